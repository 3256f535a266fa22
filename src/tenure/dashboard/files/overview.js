// Health, figures and queues.
import { act, get, post } from "./client.js";
import { by, h, sync } from "./dom.js";
import { plural, span, when } from "./words.js";

export class Overview {
  constructor(person) {
    this.person = person;
    this.queues = [];
    this.workers = [];
  }

  async refresh() {
    const ready = await get("/v1/health/ready").catch((problem) => problem);
    by("queues").hidden = !this.person.site;
    if (ready instanceof Error || !this.person.site) {
      this.drawHealth(ready, null);
      return;
    }
    const [queues, workers, stats] = await Promise.all([
      get("/api/queues"), get("/api/workers"), get("/worker/stats"),
    ]);
    this.queues = queues.items;
    this.workers = workers.items.filter((worker) => worker.alive);
    this.drawHealth(ready, this.workers.length);
    this.drawTiles(stats);
    this.drawQueues();
  }

  knows(kind) {
    return this.workers.some((worker) => worker.kinds.includes(kind));
  }

  drawHealth(ready, workers) {
    const [tone, text] =
      ready instanceof Error ? ["bad", ready.status ? "not ready" : "no answer"]
      : workers === 0 ? ["warn", "no worker"]
      : ["fine", "all well"];
    by("health").className = `pill ${tone}`;
    by("health").textContent = text;
    by("health").title = ready instanceof Error ? ready.message
      : workers === 0 ? "Jobs wait until a worker runs: tenure worker --app MODULE:OBJECT" : "The database answers, workers are there";
  }

  drawTiles(stats) {
    const sum = (name) => this.queues.reduce((total, queue) => total + queue[name], 0);
    const tiles = [
      ["waiting", sum("queued").toLocaleString(), "jobs that are queued"],
      ["running", sum("running").toLocaleString(), "jobs at work"],
      ["workers", this.workers.length.toLocaleString(),
        this.workers.length ? plural(slots(this.workers), "slot") : "start one: tenure worker"],
    ];
    if (stats.isRunning) {
      tiles.push(
        ["done", stats.totalSucceeded.toLocaleString(), `here, in ${span(stats.uptimeSeconds)}`],
        ["failed", stats.totalFailed.toLocaleString(), plural(stats.totalRetries, "attempt") + " tried again"],
      );
    }
    sync(by("tiles"), tiles, ([name]) => name, ([name, figure, note]) =>
      h("div", { class: `tile ${name}` },
        h("span", { class: "label" }, name), h("strong", {}, figure), h("span", { class: "quiet" }, note)));
  }

  drawQueues() {
    const body = by("queues").querySelector(".body");
    if (!this.queues.length) {
      body.replaceChildren(h("p", { class: "empty" }, "No queue has work, and none is paused. A queue appears with its first job."));
      return;
    }
    if (!body.querySelector("tbody")) body.replaceChildren(table());
    sync(body.querySelector("tbody"), this.queues, (queue) => queue.name, (queue) => this.row(queue));
  }

  row(queue) {
    return h("tr", {},
      h("th", { scope: "row" }, queue.name, queue.paused && h("span", { class: "badge paused" }, "paused")),
      h("td", { class: "number" }, queue.queued.toLocaleString()),
      h("td", { class: "number" }, queue.running.toLocaleString()),
      h("td", {}, oldest(queue)),
      h("td", { class: "actions" }, this.person.may("admin") && pauseButton(queue, () => this.refresh())));
  }
}

function table() {
  return h("table", {}, h("thead", {}, h("tr", {},
    h("th", { scope: "col" }, "queue"), h("th", { scope: "col", class: "number" }, "waiting"),
    h("th", { scope: "col", class: "number" }, "running"), h("th", { scope: "col" }, "oldest"),
    h("th", { scope: "col" }, h("span", { class: "hidden" }, "actions")))), h("tbody"));
}

function oldest(queue) {
  if (!queue.oldestRunAt) return "–";
  const later = new Date(queue.oldestRunAt) > Date.now();
  return later ? h("span", { class: "quiet" }, "due ", when(queue.oldestRunAt)) : when(queue.oldestRunAt);
}

function pauseButton(queue, then) {
  const action = queue.paused ? "resume" : "pause";
  const button = h("button", {
    "data-what": "pause",
    "aria-label": `${action} queue ${queue.name}`,
    onclick: () => act(button, async () => {
      await post(`/api/queues/${encodeURIComponent(queue.name)}/${action}`);
      await then();
    }, `queue ${queue.name} is ${queue.paused ? "resumed" : "paused"}`),
  }, queue.paused ? "Resume" : "Pause");
  return button;
}

const slots = (workers) =>
  workers.reduce((total, one) => total + Object.values(one.queues).reduce((sum, each) => sum + each, 0), 0);
