// Kinds: what each handler takes, how long it runs, how often it fails, and its limits.
import { html, useState } from "../vendor/ui.js";
import { mayOperate, may } from "../shell/client.js";
import { useData } from "../shell/data.js";
import { jobsAt } from "../shell/filter.js";
import { Badge, Empty, Shown, Time, Title } from "../shell/parts.js";
import { endedOf, failedOf, milliseconds, number, percent, span } from "../shell/words.js";
import { LimitForm, limitWords } from "../parts/limit_form.js";

export default function Kinds() {
  const kinds = useData("/api/kinds", { every: 10000, hears: false });
  return html`<${Title} note="What workers can run. Figures are of the last hour.">Kinds</${Title}>
    <${Shown} of=${kinds}>${(found) => (found.items.length ? html`<ul class="kinds">${found.items.map((one) => html`<${Kind} key=${one.kind} kind=${one} again=${kinds.again} />`)}</ul>` : html`<div class="panel"><${None} /></div>`)}</${Shown}>`;
}

const None = () => html`<${Empty} title="No kind is known"><p>Workers publish their handlers when they start:</p><pre tabindex="0">tenure worker --app MODULE:OBJECT</pre></${Empty}>`;

function Kind({ kind, again }) {
  const [editing, setEditing] = useState(false);
  const { lastHour: hour } = kind;
  const ended = endedOf(hour);
  return html`<li class="panel"><div class="head"><h2 class="mono"><a href=${jobsAt(["kind", kind.kind])}><bdi>${kind.kind}</bdi></a></h2>
      ${kind.workers ? html`<${Badge} state="succeeded">${number(kind.workers)} ${kind.workers === 1 ? "worker" : "workers"}</${Badge}>` : html`<${Badge} state="dead">no worker</${Badge}>`}
      ${may("write") && html`<a class="button" href=${`/new?kind=${encodeURIComponent(kind.kind)}`}>New job</a>`}
      ${mayOperate() && html`<button onClick=${() => setEditing(!editing)} aria-expanded=${String(editing)}>Limit…</button>`}</div>
    <div class="kind"><dl class="facts">
      <div><dt>Ended</dt><dd>${number(ended)}</dd></div>
      <div><dt>Failed</dt><dd class=${failedOf(hour) ? "error" : ""}>${percent(failedOf(hour), ended)}</dd></div>
      <div><dt>Retries</dt><dd>${number(hour.retries)}</dd></div>
      <div><dt>Queue</dt><dd><a href=${jobsAt(["queue", kind.queue])}><bdi>${kind.queue}</bdi></a></dd></div>
      <div><dt>Priority</dt><dd>${kind.priority}</dd></div>
      <div><dt>Attempts, timeout</dt><dd>${kind.maxAttempts}, ${kind.timeoutSeconds ? span(kind.timeoutSeconds) : "none"}</dd></div>
      <div><dt>Limit</dt><dd>${limitWords(kind.limit)}</dd></div>
      ${kind.keyLimit && html`<div><dt>Limit of each key</dt><dd>${limitWords(kind.keyLimit)}</dd></div>`}
      ${kind.release && html`<div><dt>Release</dt><dd><bdi>${kind.app ? `${kind.app} ` : ""}${kind.release}</bdi></dd></div>`}
      <div><dt>Published</dt><dd><${Time} at=${kind.seenAt} /></dd></div></dl>
      <${Latency} name="Wait" of=${hour.wait} /><${Latency} name="Run" of=${hour.run} /></div>
    ${editing && html`<${LimitForm} kind=${kind.kind} limit=${kind.limit} keyLimit=${kind.keyLimit} done=${() => { setEditing(false); again(); }} />`}</li>`;
}

// Percentiles as bars on a logarithmic scale from 1 ms to an hour: both a mail and a report fit.
const scale = (value) => (value ? Math.max(2, Math.min(100, (100 * Math.log10(Math.max(1, value))) / Math.log10(3.6e6))) : 0);

function Latency({ name, of }) {
  const rows = [["p50", of.p50], ["p95", of.p95], ["p99", of.p99]];
  return html`<div class="latency"><h3>${name}</h3><dl>${rows.map(([label, value]) => html`<div key=${label}><dt class="quiet">${label}</dt><dd><meter min="0" max="100" value=${scale(value)} aria-label=${`${name} ${label}`}></meter><span>${milliseconds(value)}</span></dd></div>`)}</dl></div>`;
}
