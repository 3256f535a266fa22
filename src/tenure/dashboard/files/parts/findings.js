// "Needs you": what the checks of `tenure doctor` found, each with the button that mends it.
import { html } from "../vendor/ui.js";
import { may, mayOperate, send } from "../shell/client.js";
import { useData } from "../shell/data.js";
import { act, ask } from "../shell/notices.js";
import { moveAll } from "../shell/operations.js";
import { Act, Badge, Panel, ProblemView, asOf } from "../shell/parts.js";
import { Icon } from "../shell/icons.js";
import { stateWord } from "../shell/words.js";

const MOVE = /^\/api\/jobs\/(replay|cancel)$/;
const WORDS = { kind: "kind", queue: "queue", state: "state", tenant: "tenant", errorGroup: "error group", q: "search" };

export function Findings() {
  const found = useData("/api/health/findings", { every: 5000, hears: false });
  if (found.problem) return html`<${ProblemView} problem=${found.problem} again=${found.again} />`;
  if (!found.data) return null;
  const wanted = found.data.items.filter((one) => one.level !== "ok");
  if (!wanted.length) {
    return html`<p class="well" id="needs-you"><${Icon} name="check" /><span><b>Nothing needs you.</b> ${found.data.items.length} checks passed, ${asOf(found.data.asOf)}.</span></p>`;
  }
  return html`<${Panel} title="Needs you" id="needs-you" actions=${html`<span class="quiet">${asOf(found.data.asOf)}</span>`}>
    <ul class="findings">${wanted.map((one) => html`<li key=${one.check + one.fact} class=${one.level}>
      <${Badge} state=${one.level === "problem" ? "failed" : "running"}>${one.level}</${Badge}>
      <div><p class="strong">${one.fact}</p>${one.next && html`<p class="quiet">${one.next}</p>`}</div>
      <div class="actions">${one.remedies.map((remedy) => html`<${Remedy} key=${remedy.label} remedy=${remedy} again=${found.again} />`)}</div>
    </li>`)}</ul></${Panel}>`;
}

function Remedy({ remedy, again }) {
  if (remedy.screen) return html`<a class="button" href=${remedy.screen}>${remedy.label}</a>`;
  const move = MOVE.exec(remedy.path ?? "");
  if (!(move ? may("write") : mayOperate())) return null;
  const run = async () => {
    const done = move ? await moveAll(move[1], remedy.body, filterWords(remedy.body)) : await request(remedy);
    if (done) again();
  };
  return html`<${Act} class=${remedy.danger ? "danger" : ""} onClick=${run}>${remedy.label}</${Act}>`;
}

async function request(remedy) {
  if (remedy.danger && !await ask({ title: `${remedy.label}?`, text: "It cannot be undone.", yes: remedy.label, danger: true })) return false;
  return await act(() => send(remedy.method, remedy.path, remedy.body ?? undefined).then(() => true), `Done: ${remedy.label}`);
}

export function filterWords(body) {
  const parts = Object.entries(body).map(([name, value]) =>
    `${WORDS[name] ?? name} ${(Array.isArray(value) ? value.map((one) => stateWord(String(one))).join(" or ") : value)}`);
  return parts.length ? `jobs with ${parts.join(", ")}` : "all jobs";
}
