// Moves over many jobs: the preview, the question, and the progress of long ones. Their ids are kept
// in this browser, so a reload or a restart of the server does not lose sight of them.
import { effect, html, signal } from "../vendor/ui.js";
import { get, post, session } from "./client.js";
import { news } from "./live.js";
import { act, ask, tell } from "./notices.js";
import { Act, Progress } from "./parts.js";
import { remember, remembered } from "./theme.js";
import { number, plural } from "./words.js";

const KEPT = "tenure.operations";
export const operations = signal(remembered(KEPT, []).map((id) => ({ operationId: id, state: "running", total: 0, matched: 0 })));
const DOING = { replay: "Retrying", cancel: "Canceling" };
const DID = { replay: "will run again", cancel: "canceled" };

effect(() => remember(KEPT, operations.value.filter((one) => one.state === "running").map((one) => one.operationId)));

setInterval(() => {
  if (!document.hidden && session.value) operations.value.filter((one) => one.state === "running").forEach(look);
}, 1000);

async function look(operation) {
  try {
    follow(await get(`/api/operations/${operation.operationId}`));
  } catch (problem) {
    if (problem.status === 404 || problem.status === 403) forget(operation.operationId);
  }
}

function follow(operation) {
  const others = operations.value.filter((one) => one.operationId !== operation.operationId);
  operations.value = [...others, operation];
  if (operation.state !== "running") news.value += 1;
}

function forget(id) {
  operations.value = operations.value.filter((one) => one.operationId !== id);
}

// Counts what `where` matches, asks, and moves exactly that filter. `words` names the filter.
export async function moveAll(action, where, words, verb = action === "replay" ? "Retry" : "Cancel") {
  const preview = await act(() => post(`/api/jobs/${action}`, { ...where, dryRun: true }));
  if (!preview) return false;
  if (!preview.total) {
    tell(`Nothing to do: no job matches any more (${words}).`);
    return false;
  }
  const many = plural(preview.total, "job");
  const sure = await ask({ title: `${verb} ${many}?`, text: `This moves ${words}.`, yes: `${verb} ${many}`, danger: action === "cancel" });
  if (!sure) return false;
  const found = await act(() => post(`/api/jobs/${action}`, where));
  if (!found) return false;
  if (found.state === "running") follow(found);
  else tell(ending(found), { tone: found.state === "failed" ? "bad" : "fine" });
  news.value += 1;
  return true;
}

function ending(found) {
  if (found.state === "failed") return `It stopped after ${plural(found.changed, "job")}: ${found.error}`;
  const refused = found.refused ? `; ${number(found.refused)} could not be moved` : "";
  return `${plural(found.changed, "job")} ${DID[found.action]}${refused}`;
}

export function Operations() {
  if (!operations.value.length) return null;
  return html`<div class="operations" role="region" aria-label="Moves over many jobs">
    ${operations.value.map((one) => html`<div class="operation" key=${one.operationId}>
      ${one.state === "running"
        ? html`<span>${DOING[one.action] ?? "Moving"} ${plural(one.total, "job")}</span>
          <${Progress} part=${one.total ? Math.min(1, one.matched / one.total) : 0} note=${`${number(one.changed ?? 0)} moved`} />
          ${one.canStop && html`<${Act} onClick=${() => act(() => post(`/api/operations/${one.operationId}/stop`))}>Stop</${Act}>`}`
        : html`<span>${one.state === "lost" ? "The process that moved these jobs has stopped. What it moved stays moved; start the rest again." : ending(one)}</span>
          <button onClick=${() => forget(one.operationId)}>Dismiss</button>`}
    </div>`)}
  </div>`;
}
