// The page: who is there, what is drawn, and what makes it draw again.
import { act, get, post, Problem, tell, whoAmI } from "./client.js";
import { by, h, seldom } from "./dom.js";
import { Failures } from "./failures.js";
import { JobDetail } from "./job.js";
import { Jobs } from "./jobs.js";
import { Overview } from "./overview.js";
import { Stream } from "./stream.js";
import { tick } from "./words.js";

const SAMPLE_KIND = "demo.mail";
const LOOK_MILLISECONDS = 5000;

async function begin() {
  try {
    show(await whoAmI());
  } catch (problem) {
    if (problem instanceof Problem && problem.status === 401) return stranger();
    tell(`${problem.message}; trying again`, "bad");
    setTimeout(begin, 3000);
  }
}

function show(session) {
  const person = { ...session, may: (permission) => session.permissions.includes(permission) };
  by("main").hidden = by("live").hidden = false;
  by("who").textContent = session.name.replace(/^session:/, "");
  by("leave").hidden = session.how !== "session";
  by("leave").addEventListener("click", () => act(by("leave"), async () => {
    await post("/logout");
    location.reload();
  }));
  live(person);
  linkScreens();
}

// Features bring screens of their own: pages of plain files, listed by the service.
async function linkScreens() {
  const screens = await get("/features/screens.json").catch(() => []);
  by("screens").hidden = screens.length === 0;
  by("screens").replaceChildren(...screens.map((screen) => h("a", { href: screen.path }, screen.title)));
}

function live(person) {
  const [overview, failures, jobs, detail] = [Overview, Failures, Jobs, JobDetail].map((Part) => new Part(person));
  const look = seldom(1000, () => guarded(async () => {
    await overview.refresh();
    jobs.allowSample(overview.knows(SAMPLE_KIND));
  }));
  const lookAtFailures = seldom(1000, () => guarded(() => failures.refresh()));
  const lookAtAll = () => {
    look();
    lookAtFailures();
    guarded(() => jobs.refresh());
  };
  const heard = (job) => {
    jobs.changed(job);
    look();
    if (failures.concerns(job)) lookAtFailures();
  };
  const stream = new Stream("/api/events", { ready: lookAtAll, reset: lookAtAll, job: heard }, drawLive);
  setInterval(() => document.hidden || look(), LOOK_MILLISECONDS);
  setInterval(tick, 1000);
  follow(detail);
  lookAtAll();
  return stream;
}

// What went wrong is said; a session that is over leads to the door.
async function guarded(work) {
  try {
    await work();
  } catch (problem) {
    if (problem.status === 401) location.reload();
    else tell(problem.message, "bad");
  }
}

function drawLive(on) {
  by("live").textContent = on ? "live" : "not live";
  by("live").classList.toggle("on", on);
}

// The address says which job is open, so that it can be passed on.
function follow(detail) {
  const go = () => {
    const id = location.hash.match(/^#\/jobs\/([\w-]+)$/)?.[1];
    if (id) detail.open(id);
    else detail.close();
  };
  window.addEventListener("hashchange", go);
  go();
}

async function stranger() {
  const health = await get("/v1/health/ready").then(() => ["fine", "all well"], () => ["bad", "not ready"]);
  by("health").className = `pill ${health[0]}`;
  by("health").textContent = health[1];
  by("stranger").hidden = false;
  by("stranger").replaceChildren(
    h("h2", {}, "Who is there?"),
    h("p", {}, "Open this page with a single-use link. ", h("code", {}, "tenure up"), " prints one when it starts. To create another, run this where Tenure is installed:"),
    h("pre", {}, `tenure keys link me --permission admin --base-url ${location.origin}`));
}

begin();
