// Is it healthy, what needs a person, and how much goes through.
import { html } from "../vendor/ui.js";
import { address, go, withQuery } from "../shell/address.js";
import { useData } from "../shell/data.js";
import { Badge, Choice, Panel, ProblemView, Shown, Time, Title, Waiting, now } from "../shell/parts.js";
import { endedOf, failedOf, milliseconds, number, percent, span, sum } from "../shell/words.js";
import { jobsAt } from "../shell/filter.js";
import { Chart } from "../parts/chart.js";
import { Findings } from "../parts/findings.js";
import { FirstJobs } from "../shell/first_jobs.js";

const SPANS = [["1h", "1 hour"], ["24h", "24 hours"], ["7d", "7 days"]];

export default function Overview() {
  const since = SPANS.some(([key]) => key === address.value.query.get("since")) ? address.value.query.get("since") : "1h";
  const stats = useData(`/api/stats?since=${since}`, { every: 5000, hears: false });
  const queues = useData("/api/queues");
  const choice = html`<${Choice} label="Time span" options=${SPANS} value=${since} onChange=${(key) => go(withQuery({ since: key === "1h" ? null : key }))} />`;
  const unused = stats.data && queues.data && !endedOf(stats.data.totals) && !queues.data.items.length;
  return html`<${Title} actions=${choice}>Overview</${Title}>
    <${Findings} />
    ${unused && html`<${FirstJobs} />`}
    ${stats.problem ? html`<${ProblemView} problem=${stats.problem} again=${stats.again} />` : stats.data ? html`
      <${Tiles} totals=${stats.data.totals} queues=${queues.data?.items ?? []} spanWords=${SPANS.find(([key]) => key === since)[1]} />
      <${Charts} stats=${stats.data} days=${since === "7d"} />` : html`<${Waiting} />`}
    <${Panel} title="Queues" id="queues" actions=${html`<a href="/queues">All queues</a>`}><${Shown} of=${queues}>${(found) => html`<${Waits} queues=${found.items} />`}</${Shown}></${Panel}>`;
}

function Tiles({ totals, queues, spanWords }) {
  const waiting = sum(queues.map((one) => one.queued));
  const oldest = queues.map((one) => one.oldestRunAt).filter(Boolean).sort()[0];
  const late = oldest ? Math.max(0, (now.value - new Date(oldest)) / 1000) : 0;
  const ended = endedOf(totals);
  const tiles = [
    ["Ended", number(ended), `in the last ${spanWords.replace("1 ", "")}`, "/jobs"],
    ["Failed", number(failedOf(totals)), `${percent(failedOf(totals), ended)}, ${number(totals.retries)} retries`, "/failures", failedOf(totals) ? "bad" : ""],
    ["Waiting", number(waiting), `${number(sum(queues.map((one) => one.running)))} running`, "/jobs?q=state%3Aqueued"],
    ["Oldest wait", late ? span(late) : "–", late ? "the longest due job" : "no job is due", "/queues", late > 300 ? "warn" : ""],
    ["Wait p95", milliseconds(totals.wait.p95), `half within ${milliseconds(totals.wait.p50)}`, "/kinds"],
  ];
  return html`<ul class="tiles" aria-label="At a glance">${tiles.map(([name, figure, note, to, tone = ""]) => html`<li key=${name}><a class=${`tile ${tone}`} href=${to}>
    <span class="label">${name}</span><strong>${figure}</strong><span class="quiet">${note}</span></a></li>`)}</ul>`;
}

function Charts({ stats, days }) {
  const times = stats.points.map((one) => new Date(one.at).getTime() / 1000);
  const all = (read) => stats.points.map(read);
  const step = { 60: "minute", 600: "10 minutes", 3600: "hour" }[stats.stepSeconds];
  return html`<div class="charts">
    <div class="panel"><${Chart} title=${`Succeeded per ${step}`} times=${times} days=${days}
      series=${[{ name: "succeeded", values: all((one) => one.settled.succeeded), colour: "accent", fill: true }]} /></div>
    <div class="panel"><${Chart} title=${`Failures per ${step}`} times=${times} days=${days} series=${[
      { name: "failed or dead", values: all((one) => failedOf(one)), colour: "failed", bars: true },
      { name: "retries", values: all((one) => one.retries), colour: "running" }]} /></div>
    <div class="panel"><${Chart} title="Wait before the start" times=${times} days=${days} format=${milliseconds} series=${[
      { name: "p95", values: all((one) => one.wait.p95), colour: "queued", fill: true },
      { name: "p50", values: all((one) => one.wait.p50), colour: "succeeded" }]} /></div>
  </div>`;
}

function Waits({ queues }) {
  if (!queues.length) return html`<div class="empty quiet">No queue has open jobs, and none is paused.</div>`;
  const wait = (one) => (one.oldestRunAt ? Math.max(0, (now.value - new Date(one.oldestRunAt)) / 1000) : 0);
  const longest = Math.max(60, ...queues.map(wait));
  const sorted = [...queues].sort((one, other) => wait(other) - wait(one)).slice(0, 12);
  return html`<ul class="waits">${sorted.map((one) => html`<li key=${one.name}>
    <a href=${jobsAt(["queue", one.name], ["state", "open"])}>${one.name}</a>
    <span>${one.paused && html`<${Badge} state="paused">paused</${Badge}>`}</span>
    <span class="quiet">${number(one.queued)} waiting · ${number(one.running)} running</span>
    <meter min="0" max=${longest} value=${wait(one)} aria-label=${`Oldest wait of ${one.name}`}></meter>
    <span class="number">${wait(one) ? span(wait(one)) : one.oldestRunAt ? html`due <${Time} at=${one.oldestRunAt} />` : "–"}</span>
  </li>`)}</ul>`;
}
