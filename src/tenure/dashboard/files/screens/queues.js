// Queues: how much waits, how long, and the switch that pauses one.
import { html } from "../vendor/ui.js";
import { mayOperate, post } from "../shell/client.js";
import { expect, refresh, useData } from "../shell/data.js";
import { jobsAt } from "../shell/filter.js";
import { act, ask } from "../shell/notices.js";
import { Act, Badge, Empty, Shown, Table, Time, Title } from "../shell/parts.js";
import { number, sum } from "../shell/words.js";

const PATH = "/api/queues";

export default function Queues() {
  const queues = useData(PATH);
  const workers = useData("/api/workers", { hears: false });
  return html`<${Title} note="A queue is a class of jobs with its own slots in each worker.">Queues</${Title}>
    <div class="panel"><${Shown} of=${queues}>${(found) => html`<${List} rows=${withDeclared(found.items, workers.data?.items ?? [])} />`}</${Shown}></div>`;
}

// Queues that workers have slots for are listed also when nothing waits in them.
function withDeclared(queues, workers) {
  const alive = workers.filter((one) => one.alive);
  const names = new Set([...queues.map((one) => one.name), ...alive.flatMap((one) => Object.keys(one.queues))]);
  return [...names].sort().map((name) => {
    const known = queues.find((one) => one.name === name) ?? { name, queued: 0, running: 0, oldestRunAt: null, paused: false };
    return { slots: sum(alive.map((one) => one.queues[name] ?? 0)), ...known };
  });
}

function List({ rows }) {
  if (!rows.length) return html`<${Empty} title="No queue"><p>A queue appears with its first job, or when a worker that has slots for it starts.</p></${Empty}>`;
  const columns = [
    { name: "Queue", of: (one) => html`<a href=${jobsAt(["queue", one.name])}><bdi>${one.name}</bdi></a> ${one.paused && html`<${Badge} state="paused">paused</${Badge}>`}${one.pausedReason && html`<span class="quiet sub">${one.pausedReason}</span>`}` },
    { name: "Waiting", number: true, of: (one) => html`<a href=${jobsAt(["queue", one.name], ["state", "queued"])}>${number(one.queued)}</a>` },
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

function change(queue, paused, reason) {
  expect(PATH, (data) => ({ ...data, items: data.items.map((one) => (one.name === queue.name ? { ...one, paused, pausedReason: reason || null } : one)) }));
  const send = () => post(`${PATH}/${encodeURIComponent(queue.name)}/${paused ? "pause" : "resume"}`, paused && reason ? { reason } : undefined);
  return act(() => send().finally(() => refresh(PATH)), `Queue ${queue.name} is ${paused ? "paused" : "resumed"}`, () => change(queue, !paused, ""));
}

function Pause({ queue }) {
  const press = async () => {
    if (queue.paused) return change(queue, false, "");
    const reason = await ask({ title: `Pause the queue ${queue.name}?`, text: "Workers start none of its jobs until it is resumed. Running jobs go on.", yes: "Pause", field: "Reason, for your colleagues (optional)" });
    return reason === null ? null : change(queue, true, reason);
  };
  return html`<${Act} data-what="pause" aria-label=${`${queue.paused ? "Resume" : "Pause"} the queue ${queue.name}`} onClick=${press}>${queue.paused ? "Resume" : "Pause"}</${Act}>`;
}
