// What is selected, and the buttons that move it. A button's number is the number it will touch.
import { html } from "../vendor/ui.js";
import { may } from "../shell/client.js";
import { inWords, valuesOf } from "../shell/filter.js";
import { moveAll } from "../shell/operations.js";
import { Act } from "../shell/parts.js";
import { BAD, number, plural } from "../shell/words.js";

const OPEN = ["queued", "running"];
const expand = (states) => states.flatMap((one) => (one === "open" ? OPEN : one === "bad" ? BAD : [one]));

export function BulkBar({ q, rows, chosen, counts, more }) {
  if (!may("write") || (!chosen.all && !chosen.ids.size)) return null;
  const picked = rows.filter((one) => chosen.has(one.jobId));
  const everyLoaded = !chosen.all && picked.length === rows.length && more;
  return html`<div class="banner bulk" role="region" aria-label="Selection">
    <span class="strong">${chosen.all ? `All ${inWords(q)} are selected` : `${plural(chosen.ids.size, "job")} selected`}</span>
    ${everyLoaded && html`<button class="link" onClick=${() => chosen.setAll(true)}>Select all that match</button>`}
    <span class="actions">${(chosen.all ? ofAll(q, counts) : ofSome(picked)).map((one) => html`<${Act} key=${one.verb} disabled=${!one.count}
      title=${one.count ? null : one.none} onClick=${async () => { if (await moveAll(one.action, one.where, one.words, one.verb)) chosen.clear(); }}>${one.verb} ${one.label}</${Act}>`)}
    <button class="plain" onClick=${chosen.clear}>Clear</button></span>
  </div>`;
}

function ofSome(rows) {
  const these = (states) => rows.filter((one) => states.includes(one.state));
  const one = (action, verb, states, none) => {
    const found = these(states);
    return { action, verb, none, count: found.length, label: number(found.length), where: { jobIds: found.map((each) => each.jobId), state: states }, words: `${plural(found.length, "selected job")}` };
  };
  return [
    one("replay", "Retry", BAD, "None of the selected jobs has failed."),
    one("cancel", "Cancel", OPEN, "None of the selected jobs is waiting or running."),
    one("cancel", "Discard", BAD, "None of the selected jobs has failed."),
  ];
}

function ofAll(q, counts) {
  const asked = expand(valuesOf(q, "state"));
  const one = (action, verb, states, none) => {
    const meant = asked.length ? states.filter((state) => asked.includes(state)) : states;
    const exact = counts ? meant.every((state) => counts.states[state].precision === "exact") : false;
    const count = counts ? meant.reduce((total, state) => total + counts.states[state].count, 0) : 0;
    const words = `${inWords(q)}${asked.length ? "" : ` that are ${meant.join(" or ")}`}`;
    return { action, verb, none, count: meant.length && (count || !exact), label: exact ? number(count) : `${number(count)}+`, where: { ...(q ? { q } : {}), state: meant }, words };
  };
  return [
    one("replay", "Retry", BAD, "No failed or dead job matches."),
    one("cancel", "Cancel", OPEN, "No waiting or running job matches."),
    one("cancel", "Discard", BAD, "No failed or dead job matches."),
  ];
}
