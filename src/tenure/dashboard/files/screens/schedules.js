// Schedules: when each fires next, what it last started, and the buttons to pause or run one.
import { html } from "../vendor/ui.js";
import { mayOperate, post } from "../shell/client.js";
import { refresh, useData } from "../shell/data.js";
import { act } from "../shell/notices.js";
import { Act, Badge, Empty, Shown, Table, Time, Title } from "../shell/parts.js";
import { number, span } from "../shell/words.js";

const PATH = "/api/schedules";

export default function Schedules() {
  const schedules = useData(PATH);
  return html`<${Title} note="Each slot fires once, on any number of workers.">Schedules</${Title}>
    <div class="panel"><${Shown} of=${schedules}>${(found) => (found.items.length ? html`<${List} rows=${found.items} />` : html`<${None} />`)}</${Shown}></div>`;
}

const None = () => html`<${Empty} title="No schedule"><p>Schedules are declared in code and appear when a worker starts:</p><pre tabindex="0">@app.schedule(cron="0 6 * * 1-5", zone="Europe/Berlin")</pre></${Empty}>`;

function change(one, action, done, undo) {
  return act(() => post(`${PATH}/${encodeURIComponent(one.name)}/${action}`).finally(() => refresh(PATH)), done, undo);
}

function List({ rows }) {
  const columns = [
    { name: "Schedule", of: (one) => html`<bdi>${one.name}</bdi> ${one.paused && html`<${Badge} state="paused">paused</${Badge}>`}${!one.enabled && html`<${Badge} state="canceled">not declared</${Badge}>`}<span class="quiet sub mono"><bdi>${one.kind}</bdi></span>` },
    { name: "When", of: (one) => html`<code>${one.cron ?? `every ${span(one.every)}`}</code>${one.cron && html`<span class="quiet sub">${one.zone}</span>`}${one.edited.length > 0 && html`<span class="quiet sub">edited: ${one.edited.join(", ")}</span>`}` },
    { name: "Next", of: (one) => html`<${Next} schedule=${one} />` },
    { name: "Last", of: (one) => (one.lastSlot ? html`<${Time} at=${one.lastSlot} />${one.lastJobId && html`<span class="sub"><a href=${`/jobs/${encodeURIComponent(one.lastJobId)}`}>#${one.lastJobId}</a></span>`}` : html`<span class="quiet">never</span>`) },
    { name: "Fired", number: true, of: (one) => number(one.fired) },
    { name: "Missed", number: true, of: (one) => number(one.dropped) },
    { name: "", class: "actions", of: (one) => mayOperate() && html`<${Buttons} one=${one} />` },
  ];
  return html`<${Table} label="Schedules" columns=${columns} rows=${rows} id=${(one) => one.name} />`;
}

function Next({ schedule }) {
  const slots = schedule.next ?? (schedule.nextAt ? [schedule.nextAt] : []);
  if (!slots.length || schedule.paused) return html`<span class="quiet">–</span>`;
  return html`<${Time} at=${slots[0]} />${slots.length > 1 && html`<details class="sub"><summary>then</summary><ul>${slots.slice(1).map((one) => html`<li key=${one}><${Time} at=${one} /></li>`)}</ul></details>`}`;
}

function Buttons({ one }) {
  const toggle = () => (one.paused
    ? change(one, "resume", `Schedule ${one.name} is resumed`, () => change(one, "pause", `Schedule ${one.name} is paused`))
    : change(one, "pause", `Schedule ${one.name} is paused`, () => change(one, "resume", `Schedule ${one.name} is resumed`)));
  return html`<span class="actions end"><${Act} onClick=${() => change(one, "run", `Schedule ${one.name} runs now`)} aria-label=${`Run now: ${one.name}`}>Run now</${Act}><${Act} onClick=${toggle} aria-label=${`${one.paused ? "Resume" : "Pause"} ${one.name}`}>${one.paused ? "Resume" : "Pause"}</${Act}>
    ${one.edited.length > 0 && html`<${Act} onClick=${() => change(one, "reset", `Schedule ${one.name} is as its code declares`)}>Reset</${Act}>`}</span>`;
}
