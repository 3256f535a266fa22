// Values as people read them.
export const STATES = ["queued", "running", "succeeded", "failed", "dead", "canceled", "not_found", "skipped"];
export const FINAL = STATES.slice(2);
export const BAD = ["failed", "dead"];

const UNITS = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];

export function span(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  const at = UNITS.findIndex(([, size]) => whole >= size);
  if (at < 0) return "0 s";
  const [unit, size] = UNITS[at];
  const rest = UNITS[at + 1] && size > 60 ? Math.floor((whole % size) / UNITS[at + 1][1]) : 0;
  return `${Math.floor(whole / size)} ${unit}` + (rest ? ` ${rest} ${UNITS[at + 1][0]}` : "");
}

export function ago(moment, now = Date.now()) {
  const seconds = (now - new Date(moment).getTime()) / 1000;
  if (seconds < -1) return `in ${span(-seconds)}`;
  return seconds < 2 ? "just now" : `${span(seconds)} ago`;
}

export function milliseconds(value) {
  if (value === null || value === undefined) return "–";
  if (value < 1) return `${value.toFixed(1)} ms`;
  if (value < 1000) return `${Math.round(value)} ms`;
  if (value < 10000) return `${(value / 1000).toFixed(1)} s`;
  return span(value / 1000);
}

export const number = (value) => (value ?? 0).toLocaleString("en-US");
export const plural = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;
export const stateWord = (state) => state.replace("_", " ");
export const clock = (moment) => new Date(moment).toLocaleTimeString("en-GB");
export const exactTime = (moment) => `${new Date(moment).toLocaleString()} (${moment})`;

export function percent(part, whole) {
  if (!whole) return "0 %";
  const value = (100 * part) / whole;
  return value && value < 0.1 ? "< 0.1 %" : `${value < 10 ? Number(value.toFixed(1)) : Math.round(value)} %`;
}

// A count of the API: exact, a lower bound, or an estimate.
export function counted({ count, precision }) {
  if (precision === "approximate") return `~${compact(count)}`;
  return precision === "atLeast" ? `${number(count)}+` : number(count);
}

export function compact(count) {
  if (count < 10000) return number(count);
  return new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 }).format(count);
}

export const sum = (values) => values.reduce((total, one) => total + one, 0);
export const failedOf = (totals) => totals.settled.failed + totals.settled.dead;
export const endedOf = (totals) => sum(Object.values(totals.settled));
