// A job by hand: a form made of the handler's own argument schema, or its JSON.
import { html, useEffect, useState } from "../vendor/ui.js";
import { address, go } from "../shell/address.js";
import { get, may, post, session } from "../shell/client.js";
import { useData } from "../shell/data.js";
import { parse, stringify } from "../shell/exact.js";
import { act } from "../shell/notices.js";
import { Empty, Title } from "../shell/parts.js";
import { SchemaForm, collect } from "../parts/schema_form.js";

const OPTIONS = [["queue", "Queue", "text"], ["tenant", "Tenant", "text"], ["key", "Unique key", "text"], ["priority", "Priority", "number"], ["delaySeconds", "Delay in seconds", "number"], ["maxAttempts", "Maximum attempts", "number"]];

export default function NewJob() {
  const { query } = address.value;
  const kinds = useData(session.value.site ? "/api/kinds" : null, { every: 0, hears: false });
  const [kind, setKind] = useState(query.get("kind") ?? "");
  const [text, setText] = useState("{}");
  const [values, setValues] = useState({});
  const [raw, setRaw] = useState(false);
  const [options, setOptions] = useState({});
  useCopy(query.get("like"), (job) => { setKind(job.kind); setText(stringify(job.payload, 2)); setRaw(true); setOptions({ queue: job.queue, tenant: job.tenant }); });
  if (!may("write")) return html`<${Title}>New job</${Title}><div class="panel"><${Empty} title="You may not add jobs"><p>Your key or session may only read.</p></${Empty}></div>`;
  const known = kinds.data?.items.find((one) => one.kind === kind);
  const schema = known?.arguments?.properties ? known.arguments : null;
  const asText = raw || !schema;
  const submit = (event) => {
    event.preventDefault();
    return act(async () => {
      const payload = asText ? parsed(text) : collect(schema, values);
      const chosen = Object.fromEntries(OPTIONS.filter(([name]) => options[name]?.toString().trim()).map(([name, , type]) => [name, type === "number" ? Number(options[name]) : options[name].trim()]));
      const added = await post("/api/jobs", { kind: kind.trim(), payload, ...chosen });
      go(`/jobs/${encodeURIComponent(added.jobId)}`);
      return added;
    }, (added) => (added.created ? `Job ${added.jobId} is added` : `Job ${added.jobId} has this key already`));
  };
  return html`<${Title}>New job</${Title}><form class="panel newjob" onSubmit=${submit}>
    <label class="field"><span>Kind</span><input type="text" list="kinds" required value=${kind} onInput=${(event) => setKind(event.target.value)} autocomplete="off" />
      <datalist id="kinds">${kinds.data?.items.map((one) => html`<option key=${one.kind} value=${one.kind} />`)}</datalist>
      ${kind && kinds.data && !known && html`<small>No worker has published this kind; the job waits until one does.</small>`}${known && !known.workers && html`<small class="wrong">No live worker runs this kind.</small>`}</label>
    <fieldset><legend>Arguments${schema && html` <button type="button" class="link" onClick=${() => { if (!raw) setText(stringify(collect(schema, values), 2)); setRaw(!raw); }}>${raw ? "as a form" : "as JSON"}</button>`}</legend>
      ${asText ? html`<label class="field"><span class="unseen">Payload as JSON</span><textarea rows="8" spellcheck="false" value=${text} onInput=${(event) => setText(event.target.value)}></textarea></label>` : html`<${SchemaForm} key=${kind} schema=${schema} values=${values} onChange=${setValues} />`}</fieldset>
    <details><summary>Options</summary><div class="grid">${OPTIONS.map(([name, label, type]) => html`<label class="field" key=${name}><span>${label}</span><input type=${type} step="any" value=${options[name] ?? ""} onInput=${(event) => setOptions({ ...options, [name]: event.target.value })} /></label>`)}</div></details>
    <div class="actions"><button type="submit" class="strong">Add job</button></div></form>`;
}

function useCopy(id, take) {
  useEffect(() => { if (id) act(() => get(`/api/jobs/${encodeURIComponent(id)}`).then(take)); }, [id]);
}

function parsed(text) {
  try {
    return parse(text);
  } catch (error) {
    throw new Error(`The payload is not JSON: ${error.message}`);
  }
}
