// The public API, as any other client uses it: JSON in and out, problems as errors, CSRF with writes.
import { signal } from "../vendor/ui.js";
import { parse, stringify } from "./exact.js";

// `gone`: when the server was last heard, while it does not answer; otherwise null.
export const gone = signal(null);
// Raised when the server is back: whatever was read before is read again.
export const back = signal(0);
export const session = signal(undefined);
export const sessionEnded = signal(false);

let heardAt = Date.now();
let probe = null;

export class Problem extends Error {
  constructor(status, document) {
    super(document.detail ?? document.title ?? `the service answered ${status}`);
    this.status = status;
    this.code = document.code;
    this.requestId = document.requestId;
  }
}

export const get = (path, options) => request("GET", path, undefined, options);
export const post = (path, body) => request("POST", path, body);
export const send = (method, path, body) => request(method, path, body);

export async function whoAmI() {
  try {
    session.value = await get("/session");
  } catch (problem) {
    if (problem.status !== 401) throw problem;
    session.value = null;
  }
}

export const may = (permission) => session.value?.permissions.includes(permission) ?? false;
// Limits, queues and the like belong to the installation: a tenant's admin may not change them.
export const mayOperate = () => may("admin") && session.value.site;

async function request(method, path, body, { signal: aborted } = {}) {
  const headers = { accept: "application/json" };
  if (method !== "GET" && session.value?.csrfToken) headers["x-csrf-token"] = session.value.csrfToken;
  if (body !== undefined) headers["content-type"] = "application/json";
  const answer = await fetched(path, { method, headers, body: body && stringify(body), signal: aborted });
  const text = await answer.text();
  const said = text && answer.headers.get("content-type")?.includes("json") ? parse(text) : null;
  if (answer.ok) return said;
  if (answer.status === 401 && session.value) sessionEnded.value = true;
  throw new Problem(answer.status, said ?? {});
}

async function fetched(path, options) {
  try {
    const answer = await fetch(path, { ...options, credentials: "same-origin" });
    heardAt = Date.now();
    if (gone.value) returned();
    return answer;
  } catch (error) {
    if (error.name === "AbortError") throw error;
    lost();
    throw new Problem(0, { detail: "The server does not answer." });
  }
}

export function lost() {
  gone.value ??= new Date(heardAt);
  probe ??= setInterval(() => document.hidden || fetched("/v1/health/live", {}).catch(() => {}), 2000);
}

function returned() {
  clearInterval(probe);
  probe = null;
  gone.value = null;
  back.value += 1;
}
