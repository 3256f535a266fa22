// Who did what, newest first.
import { html, useState } from "../vendor/ui.js";
import { address, go, withQuery } from "../shell/address.js";
import { stringify } from "../shell/exact.js";
import { Empty, Shown, Table, Time, Title } from "../shell/parts.js";
import { usePages } from "../parts/pages.js";

const FIELDS = [["actor", "Who"], ["action", "What begins with"], ["target", "Target contains"]];

export default function Audit() {
  const { query } = address.value;
  const asked = FIELDS.map(([name]) => [name, query.get(name)]).filter(([, value]) => value);
  const found = usePages(`/api/audit?pageSize=100${asked.map(([name, value]) => `&${name}=${encodeURIComponent(value)}`).join("")}`, { hears: false });
  return html`<${Title} note="Every change that a person or a key made: moves of jobs, pauses, limits, keys.">Audit</${Title}>
    <${Filters} query=${query} />
    <div class="panel"><${Shown} of=${found}>${() => (found.items.length ? html`<${Lines} lines=${found.items} />${found.foot}` : html`<${Empty} title="Nothing to show"><p>${asked.length ? "No line matches." : "Nobody has changed anything yet."}</p></${Empty}>`)}</${Shown}></div>`;
}

function Filters({ query }) {
  const [values, setValues] = useState(Object.fromEntries(FIELDS.map(([name]) => [name, query.get(name) ?? ""])));
  const submit = (event) => { event.preventDefault(); go(withQuery(Object.fromEntries(FIELDS.map(([name]) => [name, values[name].trim() || null])))); };
  return html`<form class="filters" role="search" aria-label="Audit lines" onSubmit=${submit}>${FIELDS.map(([name, label]) => html`<label class="field" key=${name}><span>${label}</span><input type="text" value=${values[name]} onInput=${(event) => setValues({ ...values, [name]: event.target.value })} /></label>`)}<button type="submit">Filter</button></form>`;
}

function Lines({ lines }) {
  const columns = [
    { name: "When", of: (one) => html`<${Time} at=${one.at} />` },
    { name: "Who", of: (one) => html`<button class="link" onClick=${() => go(withQuery({ actor: one.actor }))}><bdi>${one.actor}</bdi></button>` },
    { name: "What", of: (one) => html`<code>${one.action}</code>` },
    { name: "Target", of: (one) => (/^\d+$/.test(one.target) && one.action.startsWith("job") ? html`<a href=${`/jobs/${one.target}`}>#${one.target}</a>` : html`<bdi>${one.target}</bdi>`) },
    { name: "Facts", class: "facts-cell", of: (one) => html`<code class="quiet">${facts(one.facts)}</code>` },
  ];
  return html`<${Table} label="Audit lines" columns=${columns} rows=${lines} id=${(one) => `${one.at} ${one.action} ${one.target}`} />`;
}

const facts = (value) => Object.entries(value).map(([name, one]) => `${name}=${typeof one === "string" ? one : stringify(one)}`).join(" ");
