// The limit of a kind: jobs at a time, and starts per period.
import { html, useState } from "../vendor/ui.js";
import { send } from "../shell/client.js";
import { act } from "../shell/notices.js";
import { Act } from "../shell/parts.js";
import { number } from "../shell/words.js";

export function limitWords(limit) {
  if (!limit) return "none";
  const parts = [];
  if (limit.running) parts.push(`${number(limit.running)} at a time`);
  if (limit.rate) parts.push(`${number(limit.rate)} per ${limit.per === 1 ? "second" : `${number(limit.per)} s`}`);
  return (parts.join(", ") || "none") + (limit.byOperator ? ", set here" : "");
}

const asNumber = (text) => (text.trim() === "" ? null : Number(text));

export function LimitForm({ kind, limit, keyLimit, done }) {
  const [eachKey, setEachKey] = useState(false);
  const now = (eachKey ? keyLimit : limit) ?? {};
  const [values, setValues] = useState({ running: String(now.running ?? ""), rate: String(now.rate ?? ""), per: String(now.per ?? 1) });
  const path = `/api/limits/${encodeURIComponent(kind)}`;
  const submit = async (event) => {
    event.preventDefault();
    const body = { running: asNumber(values.running), rate: asNumber(values.rate), per: asNumber(values.per) ?? 1, burst: null, eachKey };
    if (await act(() => send("PUT", path, body).then(() => true), `The limit of ${kind} is set`)) done();
  };
  const remove = async () => { if (await act(() => send("DELETE", `${path}?eachKey=${eachKey}`).then(() => true), `The limit of ${kind} is as its code declares`)) done(); };
  const field = (name, label, note) => html`<label class="field"><span>${label}</span><input type="number" min="0" step="any" value=${values[name]} onInput=${(event) => setValues({ ...values, [name]: event.target.value })} /><small>${note}</small></label>`;
  return html`<form class="edit" onSubmit=${submit} aria-label=${`Limit of ${kind}`}>
    ${field("running", "At a time", "empty: any number")}${field("rate", "Starts", "empty: any number")}${field("per", "Per seconds", "the period of starts")}
    <label class="check"><input type="checkbox" checked=${eachKey} onChange=${() => setEachKey(!eachKey)} /> for each limit key</label>
    <div class="actions"><button type="submit" class="strong">Set limit</button>${now.byOperator && html`<${Act} onClick=${remove}>Remove</${Act}>`}<button type="button" class="plain" onClick=${done}>Cancel</button></div></form>`;
}
