// Small pieces that every screen uses.
import { html, signal, useEffect, useState } from "../vendor/ui.js";
import { Icon } from "./icons.js";
import { ago, clock, exactTime, stateWord } from "./words.js";

// One clock for all relative times.
export const now = signal(Date.now());
setInterval(() => { if (!document.hidden) now.value = Date.now(); }, 1000);

export const Time = ({ at }) => (at ? html`<time datetime=${at} title=${exactTime(at)}>${ago(at, now.value)}</time>` : html`<span class="quiet">–</span>`);
export const Badge = ({ state, children }) => html`<span class=${`badge ${state}`}>${children ?? stateWord(state)}</span>`;

export function Title({ children, note, actions }) {
  useEffect(() => { document.title = `${[children].flat().join("")} · Tenure`; });
  return html`<div class="title"><div><h1 tabindex="-1">${children}</h1>${note && html`<p class="quiet">${note}</p>`}</div>
    ${actions && html`<div class="actions">${actions}</div>`}</div>`;
}

export function Panel({ title, actions, children, class: name = "", id }) {
  return html`<section class=${`panel ${name}`} aria-labelledby=${title && `${id}-title`} id=${id}>
    ${title && html`<div class="head"><h2 id=${`${id}-title`}>${title}</h2>${actions}</div>`}${children}</section>`;
}

export const Empty = ({ title, children }) => html`<div class="empty">${title && html`<p class="strong">${title}</p>`}${children}</div>`;

export function ProblemView({ problem, again }) {
  if (problem.status === 403) {
    return html`<${Empty} title="You may not see this">
      <p>It belongs to the whole installation, and your key or session is not allowed to read it.</p>
      <p class="quiet">${problem.message}</p></${Empty}>`;
  }
  if (problem.status === 404) return html`<${Empty} title="Not found"><p>${problem.message}</p></${Empty}>`;
  return html`<${Empty} title="That did not work"><p>${problem.message}</p>
    ${problem.requestId && html`<p class="quiet">Request ${problem.requestId}</p>`}
    ${again && html`<p><button onClick=${again}>Try again</button></p>`}</${Empty}>`;
}

// A screen's data: draws it, or what stands in its place.
export function Shown({ of, children }) {
  if (of.data !== undefined) return children(of.data);
  if (of.problem) return html`<${ProblemView} problem=${of.problem} again=${of.again} />`;
  return html`<${Waiting} />`;
}

// Nothing for a moment, so that quick answers do not flicker.
export function Waiting() {
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSeen(true), 300);
    return () => clearTimeout(timer);
  }, []);
  return html`<div class="empty quiet" aria-busy="true">${seen && "Loading…"}</div>`;
}

// A button that cannot be pressed twice while its work goes on. It is not disabled meanwhile: that
// would take the focus from it.
export function Act({ onClick, children, ...rest }) {
  const [busy, setBusy] = useState(false);
  const press = async (event) => {
    if (busy) return;
    setBusy(true);
    try { await onClick(event); } finally { setBusy(false); }
  };
  return html`<button type="button" ...${rest} aria-disabled=${busy ? "true" : null} onClick=${press}>${children}</button>`;
}

// columns: [{ name, of, number, class }]. Rows are keyed, so what has the focus keeps it.
export function Table({ columns, rows, id, label }) {
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${label}><table class="rows">
    <thead><tr>${columns.map((one) => html`<th scope="col" class=${one.class ?? (one.number && "number")}>${one.name || html`<span class="unseen">Actions</span>`}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr key=${id(row)}>${columns.map((one, at) => (at === 0
      ? html`<th scope="row" class=${one.class}>${one.of(row)}</th>`
      : html`<td class=${one.class ?? (one.number && "number")} data-name=${one.name}><div>${one.of(row)}</div></td>`))}</tr>`)}</tbody>
  </table></div>`;
}

export function Choice({ label, options, value, onChange }) {
  return html`<div class="choice" role="group" aria-label=${label}>${options.map(([key, text]) => html`<button
    type="button" key=${key} aria-pressed=${String(key === value)} onClick=${() => onChange(key)}>${text}</button>`)}</div>`;
}

export function Progress({ part, note, label = "Progress" }) {
  const value = Math.round((part ?? 0) * 100);
  return html`<div class="progress"><progress max="100" value=${value} aria-label=${label}></progress>
    <span class="quiet">${value} %${note ? ` · ${note}` : ""}</span></div>`;
}

// Works on plain HTTP too, where browsers have no clipboard object.
export async function copyText(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  return area.remove();
}

export function Copy({ text, children }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    await copyText(typeof text === "function" ? text() : text);
    setDone(true);
    setTimeout(() => setDone(false), 2000);
  };
  return html`<button type="button" class="plain" onClick=${copy}><${Icon} name=${done ? "check" : "copy"} />${done ? "Copied" : children}</button>`;
}

export const asOf = (moment) => `as of ${clock(moment)}`;
