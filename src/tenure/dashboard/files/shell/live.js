// One stream of server-sent events per tab: of all jobs, or of the one that is open, whose log lines
// come only there. A hidden tab holds none, because browsers have six connections to a host.
import { effect, signal } from "../vendor/ui.js";
import { gone, lost, session } from "./client.js";
import { parse } from "./exact.js";

export const live = signal(false);
// Raised when something has changed, at most once a second.
export const news = signal(0);
export const openJob = signal(null);
const listeners = new Set();
const hidden = signal(document.hidden);
const EVENTS = ["ready", "reset", "job", "log", "end"];

let source = null;
let timer = null;
let later = null;

export function listen(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function tellNews() {
  later ??= setTimeout(() => { later = null; news.value += 1; }, 1000);
}

function openStream(job) {
  closeStream();
  source = new EventSource(job ? `/api/jobs/${encodeURIComponent(job)}/events` : "/api/events");
  source.addEventListener("open", () => { live.value = true; });
  source.addEventListener("error", () => {
    live.value = false;
    // A refused stream is not tried again by browsers: too many are open, or the session has ended.
    if (source?.readyState === EventSource.CLOSED) timer = setTimeout(() => openStream(job), 5000);
    else if (source) lost();
  });
  for (const name of EVENTS) source.addEventListener(name, (event) => heard(name, event));
  for (const listener of listeners) listener("begin", { job });
}

function heard(name, event) {
  const data = event.data ? parse(event.data) : {};
  for (const listener of listeners) listener(name, data);
  if (name === "end") openJob.value = null; // everything about this job has been sent
  if (name !== "log") tellNews();
}

function closeStream() {
  clearTimeout(timer);
  source?.close();
  source = null;
  live.value = false;
}

document.addEventListener("visibilitychange", () => { hidden.value = document.hidden; });
addEventListener("pagehide", closeStream);

effect(() => {
  if (!session.value || hidden.value || gone.value) closeStream();
  else openStream(openJob.value);
});
