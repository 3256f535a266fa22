// The latest failed and dead jobs, each with what it said, and the buttons that mend it.
import { act, get, post } from "./client.js";
import { by, h, sync } from "./dom.js";
import { moves } from "./moves.js";
import { ask } from "./question.js";
import { badge, plural, when } from "./words.js";

const SHOWN = 8;

export class Failures {
  constructor(person) {
    this.person = person;
    this.jobs = [];
    by("replay").addEventListener("click", () => this.replay());
  }

  async refresh() {
    const page = await get(`/api/dead-letters?pageSize=${SHOWN}`);
    this.jobs = await Promise.all(page.items.map((job) => this.whole(job)));
    this.more = page.next !== null;
    this.draw();
  }

  // The reason is in the whole job; one that has gone meanwhile is shown as the list had it.
  whole(job) {
    return get(`/api/jobs/${encodeURIComponent(job.jobId)}`).catch(() => job);
  }

  concerns(job) {
    return ["failed", "dead"].includes(job.state) || this.jobs.some((one) => one.jobId === job.jobId);
  }

  draw() {
    const body = by("failures").querySelector(".body");
    by("replay").hidden = !this.jobs.length || !this.person.may("write");
    if (!this.jobs.length) {
      body.replaceChildren(h("p", { class: "empty" }, "Nothing has failed. Jobs that fail for good, or use up their attempts, are listed here until somebody retries or discards them."));
      return;
    }
    if (!body.querySelector("ul")) body.replaceChildren(h("ul", { class: "failures" }));
    sync(body.querySelector("ul"), this.jobs, (job) => job.jobId, (job) => this.row(job));
  }

  row(job) {
    return h("li", {},
      h("div", { class: "what" },
        h("a", { href: `#/jobs/${job.jobId}`, "data-what": "open" }, job.kind), badge(job.state),
        h("span", { class: "quiet" }, `#${job.jobId} · `, when(job.finishedAt))),
      h("p", { class: "reason" }, reason(job)),
      h("div", { class: "actions" }, moves(job, this.person)));
  }

  async replay() {
    const where = { state: ["failed", "dead"] };
    await act(by("replay"), async () => {
      const preview = await post("/api/jobs/replay", { ...where, dryRun: true });
      const sure = await ask(`Start ${plural(preview.total, "failed job")} anew?`, "Retry all");
      if (!sure) return null;
      return post("/api/jobs/replay", where);
    }, (found) => (found ? `${plural(found.total, "job")} will run again` : ""));
  }
}

function reason(job) {
  const error = job.lastError;
  if (!error) return job.reason ?? "no reason was given";
  return error.code ? `${error.message} (${error.code})` : `${error.type}: ${error.message}`;
}
