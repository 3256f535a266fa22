// Search, count, select and move jobs.
import { html, useEffect, useMemo, useRef, useState } from "../vendor/ui.js";
import { address, go, withQuery } from "../shell/address.js";
import { useData } from "../shell/data.js";
import { inWords, searched, toggled, valuesOf, without } from "../shell/filter.js";
import { useKeys } from "../shell/keys.js";
import { Empty, ProblemView, Title, Waiting } from "../shell/parts.js";
import { counted, number, stateWord, STATES } from "../shell/words.js";
import { BulkBar } from "../parts/bulk_bar.js";
import { Drawer } from "../parts/drawer.js";
import { FirstJobs } from "../shell/first_jobs.js";
import { JobTable } from "../parts/job_table.js";
import { Search } from "../parts/search.js";
import { useJobs } from "../parts/job_pages.js";

export default function Jobs() {
  const { query } = address.value;
  const q = query.get("q") ?? "";
  const search = (text) => go(withQuery({ q: text.trim() || null, job: null, focus: null }), { replace: query.has("focus") });
  const found = useJobs(q);
  const counts = useData(searched("/api/jobs/counts", without(q, "state")), { every: 15000 });
  const chosen = useSelection(q);
  const [at, setAt] = useState(-1);
  const open = (id) => go(withQuery({ job: id }));
  useListKeys({ rows: found.rows, at, setAt, open, chosen });
  return html`<${Title}>Jobs</${Title}>
    <${Search} q=${q} onSearch=${search} focus=${query.has("focus")} />
    <${States} q=${q} counts=${counts.data} onSearch=${search} />
    ${counts.problem && counts.problem.status !== 422 && html`<p class="banner bad">${counts.problem.message}</p>`}
    <${BulkBar} q=${q} rows=${found.rows} chosen=${chosen} counts=${counts.data} more=${found.next !== null} />
    ${found.problem ? html`<div class="panel"><${ProblemView} problem=${found.problem} again=${found.again} /></div>`
      : found.rows.length ? html`<${JobTable} found=${found} chosen=${chosen} at=${at} setAt=${setAt} open=${open} q=${q} onSearch=${search} />`
      : !found.loaded ? html`<${Waiting} />` : html`<${Nothing} q=${q} found=${found} onSearch=${search} />`}
    <${Horizon} found=${found} />
    ${query.get("job") && html`<${Drawer} id=${query.get("job")} rows=${found.rows} open=${open} close=${() => go(withQuery({ job: null }))} />`}`;
}

// What is selected, by id; `all` is everything that matches, also what is not loaded.
function useSelection(q) {
  const [ids, setIds] = useState(new Set());
  const [all, setAll] = useState(false);
  useEffect(() => { setIds(new Set()); setAll(false); }, [q]);
  return useMemo(() => ({
    ids, all, setAll,
    has: (id) => all || ids.has(id),
    set: (some) => { setAll(false); setIds(new Set(some)); },
    toggle: (id) => {
      setAll(false);
      const next = new Set(ids);
      if (!next.delete(id)) next.add(id);
      setIds(next);
    },
    clear: () => { setAll(false); setIds(new Set()); },
  }), [ids, all]);
}

function useListKeys({ rows, at, setAt, open, chosen }) {
  const state = useRef({});
  state.current = { rows, at, chosen };
  const move = (by) => setAt(Math.max(0, Math.min(rows.length - 1, at + by)));
  useKeys([
    { key: "j", says: "Next job", run: () => move(1) },
    { key: "k", says: "Previous job", run: () => move(-1) },
    { key: "x", says: "Select the job", run: () => rows[at] && chosen.toggle(rows[at].jobId) },
    { key: "a", says: "Select all that match", run: () => chosen.setAll(true) },
    { key: "Escape", says: "Clear the selection", run: () => chosen.clear() },
    { key: "o", says: "Open the job", run: () => rows[at] && open(rows[at].jobId) },
  ]);
}

function States({ q, counts, onSearch }) {
  const active = new Set(valuesOf(q, "state").flatMap((one) => (one === "open" ? ["queued", "running"] : one === "bad" ? ["failed", "dead"] : [one])));
  const press = (state) => onSearch(active.has(state) || active.size
    ? [without(q, "state"), ...STATES.filter((one) => active.has(one) !== (one === state)).map((one) => `state:${one}`)].join(" ").trim()
    : toggled(q, "state", state));
  return html`<div class="states" role="group" aria-label="States">
    <button type="button" aria-pressed=${String(!active.size)} onClick=${() => onSearch(without(q, "state"))}>All</button>
    ${STATES.filter((one) => STATES.indexOf(one) < 6 || active.has(one) || counts?.states[one].count).map((state) => html`<button key=${state} type="button" class=${state} aria-pressed=${String(active.has(state))} onClick=${() => press(state)}>
      <i class="mark"></i>${stateWord(state)}<b>${counts ? counted(counts.states[state]) : "…"}</b></button>`)}
  </div>`;
}

function Nothing({ q, found, onSearch }) {
  if (!q) return html`<${FirstJobs} />`;
  return html`<div class="panel"><${Empty} title="No job matches">
    <p>There are no ${inWords(q)}${found.complete ? "." : ` among the newest ${number(found.searched)}.`}</p>
    <p><button onClick=${() => onSearch("")}>Show all jobs</button></p></${Empty}></div>`;
}

// A search without an index reads the newest rows first, and says how far it came.
function Horizon({ found }) {
  if (!found.loaded || found.complete || found.next === null) return null;
  return html`<p class="banner"><span>The newest ${number(found.searched)} jobs were searched.</span>
    <button onClick=${found.more}>Search older jobs</button></p>`;
}
