// Waits, runs and the lease of a job, to scale.
import { html } from "../vendor/ui.js";
import { now } from "../shell/parts.js";
import { FINAL, span } from "../shell/words.js";

const time = (moment) => (moment ? new Date(moment).getTime() : null);
const WIDTH = 1000;
const LEAST = 6;

// [{ from, to, what, text }], oldest first: a run for each attempt, a wait before each.
export function segments(job, history, at) {
  const runs = history.filter((one) => one.startedAt).map((one) => ({ from: time(one.startedAt), to: time(one.finishedAt), what: tone(one), text: one.entry.replaceAll("_", " ") }));
  const last = time(job.startedAt);
  if (last && !runs.some((one) => Math.abs(one.from - last) < 2)) {
    const ended = FINAL.includes(job.state);
    if (ended || job.state === "running") runs.push({ from: last, to: ended ? time(job.finishedAt) : at, what: job.state, text: job.state });
  }
  runs.sort((one, other) => one.from - other.from);
  const found = [];
  let end = time(job.createdAt);
  for (const run of runs) {
    if (run.from > end) found.push({ from: end, to: run.from, what: "wait", text: "waiting" });
    found.push(run);
    end = Math.max(end, run.to);
  }
  if (job.state === "queued") found.push({ from: end, to: Math.max(at, end), what: "wait", text: "waiting" });
  return found;
}

const tone = (one) => (one.error || /fail|dead|crash|timeout|lost/.test(one.entry) ? "failed" : "succeeded");

export function Timeline({ job, history }) {
  const found = segments(job, history, now.value);
  if (!found.length) return null;
  const [start, end] = [found[0].from, found.at(-1).to];
  const whole = Math.max(1, end - start);
  const scale = (at) => ((at - start) / whole) * WIDTH;
  const lease = job.state === "running" && job.leaseUntil ? `, lease for another ${span((time(job.leaseUntil) - now.value) / 1000)}` : "";
  const text = found.map((one) => `${one.text} ${length(one)}`).join(", ");
  return html`<figure class="timeline"><svg viewBox=${`0 0 ${WIDTH} 26`} preserveAspectRatio="none" role="img" aria-label=${`Timeline: ${text}${lease}`}>
    ${found.map((one, at) => html`<rect key=${at} class=${one.what} x=${Math.min(scale(one.from), WIDTH - LEAST)} y=${one.what === "wait" ? 10 : 3} height=${one.what === "wait" ? 6 : 20} width=${Math.max(one.what === "wait" ? 1 : LEAST, scale(one.to) - scale(one.from))} rx=${one.what === "wait" ? 0 : 3}><title>${one.text} ${length(one)}</title></rect>`)}
  </svg><figcaption class="quiet"><span>${found.slice(0, 6).map((one, at) => html`<span key=${at} class="piece"><i class=${`piece-mark ${one.what}`}></i>${one.text} ${length(one)}</span>`)}${found.length > 6 && ` and ${found.length - 6} more`}</span><span>${span(whole / 1000)} in all${lease}</span></figcaption></figure>`;
}

function length({ from, to }) {
  const took = Math.max(0, to - from);
  return took < 1000 ? `${Math.round(took)} ms` : took < 10000 ? `${(took / 1000).toFixed(1)} s` : span(took / 1000);
}
