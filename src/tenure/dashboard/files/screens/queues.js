// Queues: how much waits, how long, and the switch that pauses one.
import { html } from "../vendor/ui.js";
import { mayOperate, post } from "../shell/client.js";
import { expect, refresh, useData } from "../shell/data.js";
import { jobsAt } from "../shell/filter.js";
import { act } from "../shell/notices.js";
import { Act, Badge, Empty, Shown, Table, Time, Title } from "../shell/parts.js";
import { number } from "../shell/words.js";

const PATH = "/api/queues";

export default function Queues() {
  const queues = useData(PATH);
  return html`<${Title} note="A queue is a class of jobs with its own slots in each worker.">Queues</${Title}>
    <div class="panel"><${Shown} of=${queues}>${(found) => html`<${List} rows=${found.items} />`}</${Shown}></div>`;
}

function List({ rows }) {
  if (!rows.length) return html`<${Empty} title="No queue"><p>A queue appears with its first job, or when a worker that has slots for it starts.</p></${Empty}>`;
  const columns = [
    { name: "Queue", of: (one) => html`<a href=${jobsAt(["queue", one.name])}><bdi>${one.name}</bdi></a> ${one.paused && html`<${Badge} state="paused">paused</${Badge}>`}${one.paused && one.pausedBy && html`<span class="quiet sub">by <bdi>${one.pausedBy}</bdi> <${Time} at=${one.pausedAt} /></span>`}` },
    { name: "Waiting", number: true, of: (one) => html`<a href=${jobsAt(["queue", one.name], ["state", "queued"])}>${number(one.queued)}${one.atLeast ? "+" : ""}</a>` },
    { name: "Due", number: true, of: (one) => number(one.due) },
    { name: "Held", number: true, of: (one) => html`<span title="Behind an ordering key, a dependency or a limit">${number(one.held)}</span>` },
    { name: "Running", number: true, of: (one) => html`<a href=${jobsAt(["queue", one.name], ["state", "running"])}>${number(one.running)}</a>` },
    { name: "Slots used", of: (one) => html`<${Slots} queue=${one} />` },
    { name: "Oldest", of: (one) => (one.oldestRunAt ? html`${new Date(one.oldestRunAt) > Date.now() ? "due " : ""}<${Time} at=${one.oldestRunAt} />` : html`<span class="quiet">–</span>`) },
    { name: "", class: "actions", of: (one) => mayOperate() && html`<${Pause} queue=${one} />` },
  ];
  return html`<${Table} label="Queues" columns=${columns} rows=${rows} id=${(one) => one.name} />`;
}

function Slots({ queue }) {
  if (!queue.slots) return html`<span class="error">no worker</span>`;
  return html`<div class="progress"><meter min="0" max=${queue.slots} value=${Math.min(queue.running, queue.slots)} aria-label=${`Slots of ${queue.name} in use`}></meter><span class="quiet">${number(queue.running)} of ${number(queue.slots)}</span></div>`;
}

// Shown at once; undo is one click, so nothing is asked before.
function change(queue, paused) {
  expect(PATH, (data) => ({ ...data, items: data.items.map((one) => (one.name === queue.name ? { ...one, paused } : one)) }));
  const send = () => post(`${PATH}/${encodeURIComponent(queue.name)}/${paused ? "pause" : "resume"}`);
  return act(() => send().finally(() => refresh(PATH)), `Queue ${queue.name} is ${paused ? "paused" : "resumed"}`, () => change(queue, !paused));
}

function Pause({ queue }) {
  const verb = queue.paused ? "Resume" : "Pause";
  return html`<${Act} data-what="pause" aria-label=${`${verb} the queue ${queue.name}`} onClick=${() => change(queue, !queue.paused)}>${verb}</${Act}>`;
}
