// What the API said, by path. It is shown at once when a screen is opened again, and read anew.
import { signal, useEffect } from "../vendor/ui.js";
import { back, get } from "./client.js";
import { news } from "./live.js";

const MOST = 60;
const entries = new Map();

export function entryOf(path) {
  let entry = entries.get(path);
  if (!entry) {
    entry = { path, state: signal({ data: undefined, problem: null, at: null }), asking: null };
    entries.set(path, entry);
    if (entries.size > MOST) entries.delete(entries.keys().next().value);
  }
  return entry;
}

export async function refresh(path) {
  const entry = entryOf(path);
  entry.asking?.abort();
  const asking = new AbortController();
  entry.asking = asking;
  try {
    const data = await get(path, { signal: asking.signal });
    entry.state.value = { data, problem: null, at: Date.now() };
  } catch (problem) {
    if (problem.name === "AbortError") return;
    // The server is away: what was read stays, dimmed. Another problem replaces it.
    entry.state.value = problem.status === 0 && entry.state.value.data !== undefined
      ? entry.state.value : { data: undefined, problem, at: Date.now() };
  } finally {
    if (entry.asking === asking) entry.asking = null;
  }
}

// Shows an expected change before the server has confirmed it.
export function expect(path, change) {
  const entry = entryOf(path);
  const { data } = entry.state.value;
  if (data !== undefined) entry.state.value = { ...entry.state.value, data: change(data) };
}

// The answer to a path, kept fresh while it is on the screen: after news of jobs, after the server
// was away, and every so many milliseconds. A null path reads nothing.
export function useData(path, { every = 10000, hears = true } = {}) {
  const heard = hears ? news.value : 0;
  const returnedTimes = back.value;
  useEffect(() => {
    if (path && !entryOf(path).asking) refresh(path);
  }, [path, heard, returnedTimes]);
  useEffect(() => {
    if (!path || !every) return undefined;
    const timer = setInterval(() => document.hidden || entryOf(path).asking || refresh(path), every);
    return () => clearInterval(timer);
  }, [path, every]);
  if (!path) return { data: undefined, problem: null, at: null, again: () => {} };
  return { ...entryOf(path).state.value, again: () => refresh(path) };
}
