// Where a job comes from, what it waits for, what it has enqueued, and its steps.
import { html } from "../vendor/ui.js";
import { Badge, Time } from "../shell/parts.js";
import { stringify } from "../shell/exact.js";
import { jobsAt } from "../shell/filter.js";

const GROUPS = [["parent", "Enqueued by"], ["waitsFor", "Waits for"], ["dependents", "Wait for this job"], ["children", "Enqueued by this job"]];

export function Family({ family, id }) {
  if (!family) return null;
  const groups = GROUPS.map(([name, title]) => [name, title, name === "parent" ? (family.parent ? [family.parent] : []) : family[name]]).filter(([, , jobs]) => jobs.length);
  return html`
    ${groups.length > 0 && html`<section data-part="family"><div class="line"><h2>Related jobs</h2><a href=${`/flow/${encodeURIComponent(id)}`}>Show the flow</a></div>
      ${groups.map(([name, title, jobs]) => html`<div key=${name}><h3>${title}</h3><ul class="related">${jobs.map((job) => html`<li key=${job.jobId}><a href=${`/jobs/${encodeURIComponent(job.jobId)}`}><bdi>${job.kind}</bdi></a><span class="quiet">#${job.jobId}</span><${Badge} state=${job.state} /></li>`)}</ul>
        ${family[`${name}More`] && html`<p><a href=${jobsAt(["parent", id])}>Show all of them</a></p>`}</div>`)}</section>`}
    ${family.steps.length > 0 && html`<section data-part="steps"><h2>Steps</h2><ol class="attempts">${family.steps.map((step) => html`<li key=${step.name}><div class="line"><span class="strong">${step.name}</span><span class="quiet"><${Time} at=${step.at} /></span></div><code class="result">${cut(stringify(step.result))}</code></li>`)}</ol></section>`}`;
}

const cut = (text) => (text && text.length > 400 ? `${text.slice(0, 400)}…` : text);
