// One job: what it is, why it is not running, what it said. Live while it is open.
import { get } from "./client.js";
import { by, h, seldom, still } from "./dom.js";
import { ended, moves } from "./moves.js";
import { Stream } from "./stream.js";
import { badge, bar, clock, json, span, when } from "./words.js";

const MOST_LINES = 20000;

export class JobDetail {
  constructor(person) {
    this.person = person;
    this.dialog = by("job");
    this.stream = null;
    this.reload = seldom(300, () => this.load());
    this.dialog.addEventListener("close", () => this.closed());
    this.dialog.addEventListener("click", (event) => {
      if (event.target === this.dialog) this.dialog.close();
    });
  }

  open(id) {
    this.stream?.close();
    [this.id, this.job, this.history, this.lines] = [id, null, [], []];
    this.dialog.replaceChildren(frame(() => this.dialog.close()));
    if (!this.dialog.open) this.dialog.showModal();
    this.load();
    this.stream = new Stream(`/api/jobs/${encodeURIComponent(id)}/events`, {
      begin: () => { this.lines = []; }, // broken off, it goes on where it was: then they stay
      job: (light) => this.heard(light),
      log: (line) => { this.lines.push(line); this.drawLines(); },
      end: () => { this.stream.close(); this.reload(); },
      refused: () => this.readLines(),
    });
  }

  close() {
    if (this.dialog.open) this.dialog.close();
  }

  closed() {
    this.stream?.close();
    if (location.hash.startsWith("#/jobs/")) history.replaceState(null, "", location.pathname);
  }

  async load() {
    const id = this.id;
    const path = `/api/jobs/${encodeURIComponent(id)}`;
    try {
      const [job, past] = await Promise.all([get(path), get(`${path}/history`)]);
      if (id !== this.id) return;
      [this.job, this.history] = [job, past.items];
      this.draw();
    } catch (problem) {
      if (id === this.id) this.fail(problem);
    }
  }

  async readLines() {
    const [id, lines] = [this.id, []];
    let after = "";
    do {
      const found = await get(`/api/jobs/${encodeURIComponent(id)}/logs?limit=5000${after}`).catch(() => null);
      if (!found || id !== this.id) return;
      lines.push(...found.items);
      after = found.next && `&after=${encodeURIComponent(found.next)}`;
    } while (after && lines.length < MOST_LINES);
    this.lines = lines;
    this.drawLines();
  }

  // Progress is in what we heard; everything else is read again.
  heard(light) {
    if (this.job && this.job.fence === light.fence && this.job.state === light.state) {
      this.job = { ...this.job, ...light };
      this.draw();
    } else {
      this.reload();
    }
  }

  fail(problem) {
    this.stream?.close();
    this.part("facts").replaceChildren();
    this.part("title").textContent = `Job ${this.id}`;
    this.part("why").textContent = problem.status === 404 ? "There is no such job, or it is not yours." : problem.message;
  }

  part(name) {
    return this.dialog.querySelector(`[data-part=${name}]`);
  }

  draw() {
    const job = this.job;
    this.part("title").replaceChildren(job.kind, h("span", { class: "quiet" }, ` #${job.jobId}`));
    this.part("state").replaceChildren(badge(job.state), ...(job.cancelRequested && !ended(job) ? [h("span", { class: "quiet" }, "cancel requested")] : []));
    this.drawMoves(job);
    this.part("why").textContent = job.why.text;
    this.part("progress").replaceChildren(...(job.progress !== null && !ended(job) ? [bar(job)] : []));
    this.part("facts").replaceChildren(...facts(job));
    this.part("data").replaceChildren(...data(job), past(this.history, job.attempt));
    this.drawLines();
  }

  drawMoves(job) {
    const bar = this.part("moves");
    still(bar, () => this.drawMovesNow(bar, job));
  }

  drawMovesNow(bar, job) {
    const what = bar.contains(document.activeElement) ? document.activeElement.dataset.what : null;
    bar.replaceChildren(...moves(job, this.person));
    if (what) (bar.querySelector(`[data-what=${what}]`) ?? this.part("close")).focus();
  }

  drawLines() {
    const list = this.part("logs");
    if (!list) return;
    list.hidden = !this.lines.length;
    list.replaceChildren(h("h3", {}, "Log"), h("ol", { class: "log" }, this.lines.map((line) =>
      h("li", { class: line.level }, h("span", { class: "quiet" }, clock(line.at)), " ", line.message))));
  }
}

function frame(close) {
  return h("article", {},
    h("div", { class: "head" },
      h("h2", { id: "job-title", "data-part": "title" }, "…"), h("span", { "data-part": "state" }),
      h("span", { class: "space" }),
      h("button", { class: "plain", "data-part": "close", "aria-label": "Close", autofocus: true, onclick: close }, "✕")),
    h("p", { class: "why", "data-part": "why" }), h("div", { "data-part": "progress" }),
    h("div", { class: "actions", "data-part": "moves" }), h("dl", { class: "facts", "data-part": "facts" }),
    h("div", { "data-part": "data" }), h("section", { "data-part": "logs", hidden: true }));
}

function facts(job) {
  const took = job.startedAt && job.finishedAt && (new Date(job.finishedAt) - new Date(job.startedAt)) / 1000;
  const known = [
    ["queue", job.queue], ["priority", job.priority], ["attempt", `${job.attempt} of ${job.maxAttempts}`],
    ["created", when(job.createdAt)],
    ["due", job.state === "queued" ? when(job.runAt) : null],
    ["started", job.startedAt && when(job.startedAt)], ["finished", job.finishedAt && when(job.finishedAt)],
    ["took", typeof took === "number" ? (took < 10 ? `${took.toFixed(2)} s` : span(took)) : null],
    ["tenant", job.tenant], ["owner", job.userId], ["key", job.key], ["ordering key", job.orderingKey],
    ["waits for", job.waitsFor?.length ? job.waitsFor.join(", ") : null],
    ["worker", job.worker], ["enqueued by", job.enqueuedBy], ["correlation id", job.correlationId],
  ];
  return known.filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value]) => h("div", { class: String(value).length > 17 && !value.nodeType && "wide" }, h("dt", {}, name), h("dd", {}, value.nodeType ? value : String(value))));
}

function data(job) {
  const found = [];
  if (job.lastError) found.push(failure(job.lastError));
  found.push(block("Payload", json(job.payload)));
  if (job.state === "succeeded") found.push(block("Result", json(job.result)));
  return found;
}

function failure(error) {
  return h("section", { class: "failure" },
    h("h3", {}, "Last error"), h("p", { class: "reason" }, `${error.type}: ${error.message}`),
    error.traceback && h("details", {}, h("summary", {}, "Traceback"), h("pre", {}, error.traceback)));
}

const block = (title, text) => h("section", {}, h("h3", {}, title), h("pre", { tabindex: "0" }, text));

function past(entries, attempt) {
  if (!entries.length) return h("section", {}, h("h3", {}, "History"), h("p", { class: "quiet" }, attempt ? "Its first run is all there is so far." : "It has not run yet."));
  return h("section", {}, h("h3", {}, "History"), h("ol", { class: "history" }, entries.map((one) =>
    h("li", {}, h("strong", {}, one.entry.replace("_", " ")), h("span", { class: "quiet" }, " ", when(one.finishedAt),
      one.attempt ? ` · attempt ${one.attempt}` : "", one.durationSeconds !== null ? ` · ${one.durationSeconds.toFixed(2)} s` : "",
      one.worker ? ` · ${one.worker}` : ""),
    one.error && h("p", { class: "reason" }, `${one.error.type}: ${one.error.message}`)))));
}
