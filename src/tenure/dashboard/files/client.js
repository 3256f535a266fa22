// The public API, as any other client uses it: JSON in and out, problems as errors, CSRF with writes.
import { by } from "./dom.js";
import { parse, stringify } from "./exact.js";

let csrf = null;

export class Problem extends Error {
  constructor(status, document) {
    super(document.detail ?? document.title ?? `the service answered ${status}`);
    this.status = status;
    this.code = document.code;
  }
}

export const get = (path) => ask("GET", path);
export const post = (path, body) => ask("POST", path, body);

export async function whoAmI() {
  const session = await get("/session");
  csrf = session.csrfToken;
  return session;
}

async function ask(method, path, body) {
  const headers = { accept: "application/json" };
  if (method !== "GET" && csrf) headers["x-csrf-token"] = csrf;
  if (body !== undefined) headers["content-type"] = "application/json";
  const answer = await send(path, { method, headers, body: body && stringify(body) });
  const text = await answer.text();
  const said = text ? parse(text) : null;
  if (!answer.ok) throw new Problem(answer.status, said ?? {});
  return said;
}

async function send(path, options) {
  try {
    return await fetch(path, { ...options, credentials: "same-origin" });
  } catch {
    throw new Problem(0, { detail: "the service does not answer" });
  }
}

// What is told for a moment at the edge of the page, and read out by screen readers.
export function tell(text, tone = "fine") {
  const said = by("said");
  said.textContent = text;
  said.dataset.tone = tone;
  clearTimeout(said.timer);
  said.timer = setTimeout(() => { said.textContent = ""; }, 6000);
}

// Does it, and says how it went. The button cannot be pressed twice meanwhile.
export async function act(button, work, done) {
  button.disabled = true;
  try {
    const found = await work();
    if (done) tell(typeof done === "function" ? done(found) : done);
  } catch (problem) {
    tell(problem.message, "bad");
  } finally {
    button.disabled = false;
  }
}
