// Values as people read them.
import { h } from "./dom.js";
import { stringify } from "./exact.js";

export const STATES = ["queued", "running", "succeeded", "failed", "dead", "canceled"];
const UNITS = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];

export function span(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  const at = UNITS.findIndex(([, size]) => whole >= size);
  if (at < 0) return "0 s";
  const [unit, size] = UNITS[at];
  const rest = UNITS[at + 1] && size > 60 ? Math.floor((whole % size) / UNITS[at + 1][1]) : 0;
  return `${Math.floor(whole / size)} ${unit}` + (rest ? ` ${rest} ${UNITS[at + 1][0]}` : "");
}

export function ago(moment) {
  const seconds = (Date.now() - new Date(moment).getTime()) / 1000;
  if (seconds < -1) return `in ${span(-seconds)}`;
  return seconds < 2 ? "just now" : `${span(seconds)} ago`;
}

// A moment that goes on being right: `tick` rewrites all of them.
export function when(moment) {
  if (!moment) return "–";
  return h("time", { datetime: moment, title: new Date(moment).toLocaleString() }, ago(moment));
}

export function tick() {
  for (const node of document.querySelectorAll("time")) {
    const text = ago(node.dateTime);
    if (node.textContent !== text) node.textContent = text;
  }
}

export const clock = (moment) =>
  moment ? new Date(moment).toLocaleTimeString([], { hour12: false }) : "";

export const plural = (count, one) => `${count.toLocaleString()} ${one}${count === 1 ? "" : "s"}`;

export const badge = (state) => h("span", { class: `badge ${state}` }, state.replace("_", " "));

export function bar(job) {
  const part = Math.round((job.progress ?? 0) * 100);
  return h("div", { class: "progress" },
    h("progress", { max: "100", value: String(part), "aria-label": "Progress" }),
    h("span", { class: "quiet" }, `${part} %${job.progressNote ? ` · ${job.progressNote}` : ""}`));
}

export const json = (value) => stringify(value, 2);
