// The latest jobs, of any state or one; rows change as it happens.
import { act, get, post } from "./client.js";
import { by, h, sync } from "./dom.js";
import { badge, bar, STATES, when } from "./words.js";

const SHOWN = 25;

export class Jobs {
  constructor(person) {
    this.person = person;
    this.state = "";
    this.rows = [];
    this.next = null;
    this.drawChoice();
    by("older").addEventListener("click", () => act(by("older"), () => this.older()));
    by("sample").addEventListener("click", () => act(by("sample"), addSample, "sample jobs are added"));
  }

  async refresh() {
    const page = await get(this.path());
    this.rows = page.items;
    this.next = page.next;
    this.draw();
  }

  async older() {
    const page = await get(`${this.path()}&after=${encodeURIComponent(this.next)}`);
    this.rows = [...this.rows, ...page.items];
    this.next = page.next;
    this.draw();
  }

  path() {
    return `/api/jobs?pageSize=${SHOWN}` + (this.state ? `&state=${this.state}` : "");
  }

  // One job has changed: it comes, goes, or looks different. Newer ones come first.
  changed(job) {
    const others = this.rows.filter((one) => one.jobId !== job.jobId);
    const oldest = others.at(-1);
    const wanted = !this.state || job.state === this.state;
    const inSight = !oldest || this.next === null || order(job, oldest) < 0;
    this.rows = wanted && inSight ? [...others, job].sort(order) : others;
    this.draw();
  }

  allowSample(known) {
    this.sample = known && this.person.may("write");
    by("sample").hidden = !this.sample;
  }

  choose(state) {
    this.state = state;
    this.drawChoice();
    this.refresh().catch(() => {});
  }

  drawChoice() {
    const buttons = ["", ...STATES];
    sync(by("states"), buttons.map((state) => [state, state === this.state]), ([state]) => state,
      ([state, chosen]) => h("button", {
        role: "radio", "aria-checked": String(chosen), "data-what": "state",
        tabindex: chosen ? "0" : "-1",
        onclick: () => this.choose(state),
        onkeydown: (event) => this.step(event, state),
      }, state || "all"));
  }

  // Arrow keys go from one to the next, as in every group of choices.
  step(event, state) {
    const way = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!way) return;
    event.preventDefault();
    const all = ["", ...STATES];
    const next = all[(all.indexOf(state) + way + all.length) % all.length];
    this.choose(next);
    by("states").children[all.indexOf(next)].focus();
  }

  draw() {
    const body = by("jobs").querySelector(".body");
    by("older").hidden = this.next === null;
    if (!this.rows.length) {
      body.replaceChildren(this.empty());
      return;
    }
    if (!body.querySelector("tbody")) body.replaceChildren(table());
    sync(body.querySelector("tbody"), this.rows, (job) => job.jobId, row);
  }

  empty() {
    if (this.state) return h("p", { class: "empty" }, `No job is ${this.state}. `,
      h("button", { class: "plain", onclick: () => this.choose("") }, "Show all"));
    return h("div", { class: "empty" },
      h("p", {}, "No jobs yet. ", this.sample ? "Add the sample jobs with the button above, or enqueue one of your own:" : "Enqueue one:"),
      h("pre", {}, `tenure enqueue ${this.sample ? "demo.mail --payload '{\"to\": \"ada@example.org\"}'" : "KIND --payload '{}'"}`));
  }
}

async function addSample() {
  for (const job of await get("/page/sample.json")) await post("/api/jobs", job);
}

const order = (one, other) => Number(other.jobId) - Number(one.jobId) || 0;

function table() {
  return h("table", { class: "jobs" }, h("thead", {}, h("tr", {},
    ["job", "state", "queue", "attempt", "when"].map((name) => h("th", { scope: "col" }, name)))), h("tbody"));
}

function row(job) {
  return h("tr", {},
    h("th", { scope: "row" },
      h("a", { href: `#/jobs/${job.jobId}`, "data-what": "open" }, job.kind),
      h("span", { class: "quiet" }, ` #${job.jobId}`)),
    h("td", {}, badge(job.state), job.state === "running" && job.progress !== null && bar(job)),
    h("td", { class: "quiet" }, job.queue),
    h("td", { class: "quiet" }, `${job.attempt} of ${job.maxAttempts}`),
    h("td", {}, moment(job)));
}

function moment(job) {
  if (job.state === "queued" && new Date(job.runAt) > Date.now()) return h("span", {}, "due ", when(job.runAt));
  return when(job.finishedAt ?? job.startedAt ?? job.createdAt);
}
