// What a person may do to a job, as buttons.
import { act, post } from "./client.js";
import { h } from "./dom.js";

const FINAL = ["succeeded", "failed", "dead", "canceled", "not_found", "skipped"];
export const ended = (job) => FINAL.includes(job.state);

export function moves(job, { may }) {
  if (!may("write")) return [];
  const found = [];
  if (job.state !== "running" && job.state !== "succeeded") {
    found.push(move(job, "retry", job.state === "queued" ? "Run now" : "Retry", `job ${job.jobId} will run again`));
  }
  if (!ended(job) || job.state === "failed" || job.state === "dead") {
    const [label, done] = words(job);
    if (!job.cancelRequested) found.push(move(job, "cancel", label, done));
  }
  return found;
}

function words(job) {
  if (job.state === "running") return ["Cancel", `job ${job.jobId} was asked to stop`];
  if (job.state === "queued") return ["Cancel", `job ${job.jobId} is canceled`];
  return ["Discard", `job ${job.jobId} is discarded`];
}

function move(job, action, label, done) {
  const button = h("button", {
    "data-what": action,
    "aria-label": `${label} job ${job.jobId}`,
    onclick: () => act(button, () => post(`/api/jobs/${encodeURIComponent(job.jobId)}/${action}`), done),
  }, label);
  return button;
}
