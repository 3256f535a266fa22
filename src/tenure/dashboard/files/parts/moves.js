// What a person may do to one job, as buttons.
import { html } from "../vendor/ui.js";
import { may, post } from "../shell/client.js";
import { act } from "../shell/notices.js";
import { Act } from "../shell/parts.js";
import { BAD, FINAL } from "../shell/words.js";

const path = (job, action) => `/api/jobs/${encodeURIComponent(job.jobId)}/${action}`;

export function Moves({ job, again }) {
  if (!may("write")) return null;
  const ended = FINAL.includes(job.state);
  const move = (action, done, undo) => async () => { await act(() => post(path(job, action)), done, undo); again?.(); };
  const undo = () => act(() => post(path(job, "retry")).then(again), `Job ${job.jobId} is queued again`);
  return html`
    ${job.state !== "running" && job.state !== "succeeded" && html`<${Act} class=${BAD.includes(job.state) ? "strong" : ""} data-what="retry" onClick=${move("retry", `Job ${job.jobId} will run again`)}>${job.state === "queued" ? "Run now" : "Retry"}</${Act}>`}
    ${job.state === "queued" && html`<${Act} data-what="cancel" onClick=${move("cancel", `Job ${job.jobId} is canceled`, undo)}>Cancel</${Act}>`}
    ${job.state === "running" && !job.cancelRequested && html`<${Act} data-what="cancel" onClick=${move("cancel", `Job ${job.jobId} was asked to stop`)}>Cancel</${Act}>`}
    ${BAD.includes(job.state) && html`<${Act} data-what="cancel" onClick=${move("cancel", `Job ${job.jobId} is discarded`)}>Discard</${Act}>`}
    ${ended && html`<a class="button" href=${`/new?like=${encodeURIComponent(job.jobId)}`}>Enqueue a copy</a>`}`;
}
