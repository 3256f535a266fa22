// The list of jobs. Only rows in sight are in the document: tens of thousands scroll like fifty.
import { html, useEffect, useLayoutEffect, useRef, useState } from "../vendor/ui.js";
import { withQuery } from "../shell/address.js";
import { Badge, Progress, Time } from "../shell/parts.js";
import { BAD, milliseconds, number } from "../shell/words.js";

const SPARE = 12;

function useSight(count, body) {
  const [sight, setSight] = useState({ from: 0, to: 60, height: 41 });
  useLayoutEffect(() => {
    const look = () => {
      const height = body.current?.querySelector("tr[data-row]")?.offsetHeight || 41;
      const top = body.current ? -body.current.getBoundingClientRect().top : 0;
      const from = Math.max(0, Math.floor(top / height) - SPARE);
      const to = from + Math.ceil(innerHeight / height) + 2 * SPARE;
      setSight((before) => (before.from === from && before.to === to && before.height === height ? before : { from, to, height }));
    };
    look();
    addEventListener("scroll", look, { passive: true });
    addEventListener("resize", look);
    return () => { removeEventListener("scroll", look); removeEventListener("resize", look); };
  }, [count]);
  return sight;
}

export function JobTable({ found, chosen, at, setAt, open }) {
  const body = useRef();
  const { rows, next, more, complete } = found;
  const { from, to, height } = useSight(rows.length, body);
  const shown = rows.slice(from, to);
  useEffect(() => { if (to >= rows.length && next !== null && complete) more(); }, [to, rows.length, next, complete]);
  useFocus(at, body, height);
  const every = rows.length > 0 && rows.every((one) => chosen.has(one.jobId));
  return html`<div class="panel jobs"><table role="grid" aria-rowcount=${next === null ? rows.length + 1 : -1} aria-label="Jobs">
    <thead><tr aria-rowindex="1">
      <th scope="col" class="pick"><input type="checkbox" aria-label="Select all loaded jobs" checked=${every} onChange=${() => (every ? chosen.clear() : chosen.set(rows.map((one) => one.jobId)))} /></th>
      <th scope="col">Job</th><th scope="col">State</th><th scope="col">What is going on</th><th scope="col">Queue</th><th scope="col" class="number">Attempt</th><th scope="col" class="number">When</th></tr></thead>
    <tbody ref=${body}>
      ${from > 0 && html`<tr aria-hidden="true" class="spacer" key="above"><td colspan="7" style=${{ height: `${from * height}px` }}></td></tr>`}
      ${shown.map((job, place) => html`<${Row} key=${job.jobId} job=${job} place=${from + place} here=${from + place === at} picked=${chosen.has(job.jobId)}
        toggle=${() => chosen.toggle(job.jobId)} focus=${() => setAt(from + place)} open=${open} />`)}
      ${to < rows.length && html`<tr aria-hidden="true" class="spacer" key="below"><td colspan="7" style=${{ height: `${(rows.length - to) * height}px` }}></td></tr>`}
    </tbody></table>
    <p class="foot quiet" role="status">${number(rows.length)} loaded${next === null ? ", all that match" : ""}</p></div>`;
}

// The focus follows `j` and `k`, once a row of the list has it or nothing else does.
function useFocus(at, body, height) {
  const before = useRef(at);
  useEffect(() => {
    if (before.current === at) return;
    before.current = at;
    const link = body.current?.querySelector(`tr[data-row="${at}"] a`);
    if (link) link.focus();
    else scrollBy(0, at * height + body.current.getBoundingClientRect().top - innerHeight / 2);
  });
}

function Row({ job, place, here, picked, toggle, focus, open }) {
  const press = (event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    open(job.jobId);
  };
  const to = withQuery({ job: job.jobId });
  return html`<tr data-row=${place} aria-rowindex=${place + 2} aria-selected=${String(picked)} class=${here ? "here" : ""} onFocusIn=${focus}>
    <td class="pick"><input type="checkbox" aria-label=${`Select job ${job.jobId}`} checked=${picked} onChange=${toggle} /></td>
    <th scope="row"><a href=${to} onClick=${press}><bdi>${job.kind}</bdi></a><span class="quiet">#${job.jobId}${job.key && html` · <bdi>${job.key}</bdi>`}${job.tenant && html` · <bdi>${job.tenant}</bdi>`}</span></th>
    <td><${Badge} state=${job.state} /></td>
    <td class="why">${job.state === "running" && job.progress !== null ? html`<${Progress} part=${job.progress} note=${job.progressNote} />` : html`<${Reason} job=${job} />`}</td>
    <td class="queue"><bdi>${job.queue}</bdi></td>
    <td class="number attempt">${job.attempt} of ${job.maxAttempts}</td>
    <td class="number when">${moment(job)}</td></tr>`;
}

export function Reason({ job }) {
  if (BAD.includes(job.state) && job.lastError) return html`<span class="error" title=${errorText(job.lastError)}>${errorText(job.lastError)}</span>`;
  if (job.why) return html`<span class="quiet" title=${job.why.text}>${job.why.text}</span>`;
  if (job.lastError && !["succeeded"].includes(job.state)) return html`<span class="quiet" title=${errorText(job.lastError)}>last: ${errorText(job.lastError)}</span>`;
  return html`<span class="quiet">${job.reason ?? took(job)}</span>`;
}

const took = (job) => (job.startedAt && job.finishedAt ? `took ${milliseconds(new Date(job.finishedAt) - new Date(job.startedAt))}` : "");

export const errorText = (error) => (error.code ? `${error.message} (${error.code})` : `${error.type}: ${error.message}`);

function moment(job) {
  if (job.state === "queued" && new Date(job.runAt) > Date.now()) return html`due <${Time} at=${job.runAt} />`;
  return html`<${Time} at=${job.finishedAt ?? job.startedAt ?? job.createdAt} />`;
}
