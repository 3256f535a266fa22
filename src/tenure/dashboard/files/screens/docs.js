// The HTTP API for people: every operation of /openapi.json, with its parameters and an example.
import { html, useState } from "../vendor/ui.js";
import { useData } from "../shell/data.js";
import { stringify } from "../shell/exact.js";
import { Copy, Empty, Shown, Title } from "../shell/parts.js";
import { exampleOf, fieldsOf, typeOf } from "../parts/schema_words.js";

const METHODS = ["get", "post", "put", "patch", "delete"];

export default function Docs() {
  const document = useData("/openapi.json", { every: 0, hears: false });
  const [text, setText] = useState("");
  return html`<${Title} note=${html`Everything that the dashboard does, a program with a key can do too. Machines read <a href="/openapi.json">/openapi.json</a>.`}>API reference</${Title}>
    <label class="field"><span>Find an operation</span><input type="text" data-search value=${text} placeholder="replay, /api/queues, limits" onInput=${(event) => setText(event.target.value)} /></label>
    <${Shown} of=${document}>${(found) => html`<${Operations} api=${found} text=${text.trim().toLowerCase()} />`}</${Shown}>`;
}

function operationsOf(api, text) {
  const found = new Map();
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const method of METHODS.filter((one) => methods[one])) {
      const operation = { path, method, ...methods[method] };
      const words = `${path} ${method} ${operation.operationId} ${operation.tags} ${operation.description}`.toLowerCase();
      const tag = operation.tags?.[0] ?? "other";
      if (words.includes(text)) found.set(tag, [...(found.get(tag) ?? []), operation]);
    }
  }
  return [...found];
}

function Operations({ api, text }) {
  const tags = operationsOf(api, text);
  if (!tags.length) return html`<div class="panel"><${Empty} title="No operation matches"><p>Try a part of a path, or a word of its description.</p></${Empty}></div>`;
  return tags.map(([tag, operations]) => html`<section class="panel" key=${tag} aria-labelledby=${`tag-${tag}`}><div class="head"><h2 id=${`tag-${tag}`}>${tag}</h2></div>
    ${operations.map((one) => html`<${Operation} key=${one.operationId} api=${api} operation=${one} />`)}</section>`);
}

function Operation({ api, operation }) {
  const [open, setOpen] = useState(false);
  const said = (operation.description ?? operation.summary ?? "").replace(/\s+/g, " ");
  const first = said.match(/^.*?[.:](?= |$)/)?.[0] ?? said;
  return html`<details class="operation-of" onToggle=${(event) => setOpen(event.target.open)}>
    <summary><code class=${`method ${operation.method}`}>${operation.method.toUpperCase()}</code><code class="path">${operation.path}</code><span class="quiet">${first}</span></summary>
    ${open && html`<div class="about"><p>${said}</p><${Parameters} api=${api} operation=${operation} /><${Body} api=${api} operation=${operation} /><${Answers} api=${api} operation=${operation} /><${Curl} api=${api} operation=${operation} /></div>`}</details>`;
}

const Fields = ({ title, rows }) => rows.length > 0 && html`<div><h3>${title}</h3><dl class="fields">${rows.map((one) => html`<div key=${one.name}><dt><code>${one.name}</code>${one.required && html` <small>required</small>`}</dt><dd><span class="quiet">${one.type}</span> ${one.about}</dd></div>`)}</dl></div>`;

function Parameters({ api, operation }) {
  const rows = (operation.parameters ?? []).map((one) => ({ name: one.name, required: one.required, type: `${one.in}, ${typeOf(one.schema ?? {}, api)}`, about: one.description }));
  return html`<${Fields} title="Parameters" rows=${rows} />`;
}

const schemaOf = (part) => Object.values(part?.content ?? {})[0]?.schema;

function Body({ api, operation }) {
  const schema = schemaOf(operation.requestBody);
  return schema && html`<${Fields} title="Body" rows=${fieldsOf(schema, api)} />`;
}

function Answers({ api, operation }) {
  const [status, answer] = Object.entries(operation.responses).find(([code]) => code.startsWith("2")) ?? [];
  const schema = schemaOf(answer);
  return html`${schema && html`<div><h3>Answer ${status}</h3><pre tabindex="0" aria-label=${`Example of the answer ${status}`}>${stringify(exampleOf(schema, api), 2)}</pre></div>`}
    <p class="quiet">Statuses: ${Object.keys(operation.responses).join(", ")}</p>`;
}

function Curl({ api, operation }) {
  const schema = schemaOf(operation.requestBody);
  const method = operation.method === "get" ? "" : `-X ${operation.method.toUpperCase()} `;
  const body = schema ? ` \\\n  -H "content-type: application/json" -d '${stringify(exampleOf(schema, api, true)).replaceAll("'", "'\\''")}'` : "";
  const text = `curl ${method}-H "authorization: Bearer $TENURE_KEY" ${location.origin}${operation.path}${body}`;
  return html`<div><div class="line"><h3>Try it</h3><${Copy} text=${text}>Copy</${Copy}></div><pre tabindex="0" aria-label="Command">${text}</pre></div>`;
}
