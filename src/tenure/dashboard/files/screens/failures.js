// What goes wrong, grouped by kind and message: how often, since when, and the button that replays it.
import { html } from "../vendor/ui.js";
import { address, go, withQuery } from "../shell/address.js";
import { may } from "../shell/client.js";
import { useData } from "../shell/data.js";
import { jobsAt } from "../shell/filter.js";
import { moveAll } from "../shell/operations.js";
import { Act, Choice, Empty, Shown, Time, Title } from "../shell/parts.js";
import { plural, sum } from "../shell/words.js";
import { Sparkline } from "../parts/sparkline.js";
import { usePages } from "../parts/pages.js";

const SPANS = [["1h", "1 hour"], ["24h", "24 hours"], ["7d", "7 days"]];

export default function Failures() {
  const asked = address.value.query.get("since");
  const since = SPANS.some(([key]) => key === asked) ? asked : "7d";
  const found = usePages(`/api/errors?pageSize=50&since=${since}`);
  const choice = html`<${Choice} label="Last seen within" options=${SPANS} value=${since} onChange=${(key) => go(withQuery({ since: key === "7d" ? null : key }))} />`;
  return html`<${Title} note="Failures of the same kind and message are one group. A job belongs to the group of its last failure." actions=${choice}>Failures</${Title}>
    <div class="panel"><${Shown} of=${found}>${() => (found.items.length ? html`<ul class="errors">${found.items.map((one) => html`<${Group} key=${one.errorGroup} group=${one} again=${found.again} />`)}</ul>${found.foot}` : html`<${None} since=${since} />`)}</${Shown}></div>`;
}

function Group({ group, again }) {
  const words = `failed and dead jobs of the kind ${group.kind} whose last error is “${group.type}: ${group.message}”`;
  const move = (action, verb) => async () => { if (await moveAll(action, { ...group.filter, state: ["failed", "dead"] }, words, verb)) again(); };
  const open = jobsAt(["group", group.errorGroup]);
  return html`<li data-type=${group.type}>
    <div class="what"><a class="strong" href=${open}><bdi>${group.type}</bdi></a> <span class="quiet">in</span> <a href=${jobsAt(["kind", group.kind], ["state", "bad"])}><bdi>${group.kind}</bdi></a>
      <p class="error">${group.message}</p>
      <p class="quiet">first <${Time} at=${group.firstSeen} /> · last <${Time} at=${group.lastSeen} /> · sample <a href=${`/jobs/${encodeURIComponent(group.sampleJobId)}`}>#${group.sampleJobId}</a></p></div>
    <div class="trend"><${Sparkline} values=${group.hours} label=${`${plural(sum(group.hours), "failure")} in the last 24 hours`} /><span class="quiet">24 hours</span></div>
    <div class="count"><b>${group.count.toLocaleString("en-US")}</b><span class="quiet">${group.count === 1 ? "failure" : "failures"}</span></div>
    <div class="actions"><a class="button" href=${open}>Show jobs</a>${may("write") && html`<${Act} class="strong" data-what="replay" onClick=${move("replay", "Retry")}>Retry…</${Act}><${Act} data-what="discard" onClick=${move("cancel", "Discard")}>Discard…</${Act}>`}</div>
  </li>`;
}

const None = ({ since }) => html`<${Empty} title="No failures"><p>Nothing has failed ${since === "7d" ? "in the last 7 days" : "in this time"}. Errors appear here from their first attempt on, also while a job is still being retried.</p>
  <p><a href="/jobs?q=state%3Abad">Show jobs that failed earlier</a></p></${Empty}>`;
