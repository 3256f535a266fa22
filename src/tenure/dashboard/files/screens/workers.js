// Worker processes: what they run, how full they are, and which have stopped responding.
import { html } from "../vendor/ui.js";
import { useData } from "../shell/data.js";
import { Badge, Empty, Shown, Table, Time, Title, now } from "../shell/parts.js";
import { number, plural, span, sum } from "../shell/words.js";

export default function Workers() {
  const workers = useData("/api/workers", { every: 5000 });
  return html`<${Title} note="Each process that runs jobs. One that was silent for a minute is listed as silent; its jobs run elsewhere once their leases expire.">Workers</${Title}>
    <div class="panel"><${Shown} of=${workers}>${(found) => (found.items.length ? html`<${List} rows=${found.items} at=${workers.at} />` : html`<${None} />`)}</${Shown}></div>`;
}

const None = () => html`<${Empty} title="No worker is running"><p>Jobs wait until one starts:</p><pre tabindex="0">tenure worker --app MODULE:OBJECT</pre></${Empty}>`;
const slots = (one) => sum(Object.values(one.queues));

function List({ rows, at }) {
  const age = (one) => one.silentSeconds + Math.max(0, (now.value - at) / 1000);
  const columns = [
    { name: "Worker", of: (one) => html`<bdi>${one.host}</bdi> <span class="quiet">pid ${one.pid}</span><span class="quiet sub mono">${one.workerId}</span>` },
    { name: "State", of: (one) => (one.alive ? html`<${Badge} state="succeeded">alive</${Badge}>` : html`<${Badge} state="dead">silent</${Badge}>`) },
    { name: "Slots used", of: (one) => html`<div class="progress"><meter min="0" max=${Math.max(1, slots(one))} value=${Math.min(one.running, slots(one))} aria-label=${`Slots of ${one.workerId} in use`}></meter><span class="quiet">${number(one.running)} of ${number(slots(one))}</span></div>` },
    { name: "Queues", of: (one) => html`<span class="chips">${Object.entries(one.queues).map(([name, count]) => html`<span class="chip" key=${name}><bdi>${name}</bdi> ${count}</span>`)}</span>` },
    { name: "Kinds", of: (one) => html`<details><summary>${plural(one.kinds.length, "kind")}</summary><span class="chips">${one.kinds.map((kind) => html`<span class="chip" key=${kind}><bdi>${kind}</bdi></span>`)}</span></details>` },
    ...(rows.some((one) => one.release) ? [{ name: "Version", of: (one) => one.release ?? "–" }] : []),
    { name: "Heartbeat", number: true, of: (one) => html`<span class=${one.alive ? "" : "error"}>${span(age(one))} ago</span>` },
    { name: "Started", number: true, of: (one) => html`<${Time} at=${one.startedAt} />` },
  ];
  return html`<${Table} label="Workers" columns=${columns} rows=${rows} id=${(one) => one.workerId} />`;
}
