// Everything about one job, live while it is open.
import { html, useEffect, useState } from "../vendor/ui.js";
import { expect, refresh, useData } from "../shell/data.js";
import { listen, openJob } from "../shell/live.js";
import { Badge, Copy, Progress, ProblemView, Time, Waiting } from "../shell/parts.js";
import { FINAL, span } from "../shell/words.js";
import { errorText } from "./job_table.js";
import { Family } from "./family.js";
import { JsonBlock } from "./json_block.js";
import { Log } from "./log.js";
import { Moves } from "./moves.js";
import { Timeline } from "./timeline.js";

export function JobView({ id, page }) {
  const path = `/api/jobs/${encodeURIComponent(id)}`;
  const found = useData(path, { every: 0 });
  const ended = found.data && FINAL.includes(found.data.state);
  const past = useData(`${path}/history`, { every: 0 });
  const family = useData(`${path}/family`, { every: ended ? 0 : 15000 });
  useEffect(() => {
    openJob.value = id;
    return () => { openJob.value = null; };
  }, [id]);
  // Progress is in what was heard; everything else is read again.
  useEffect(() => listen((name, job) => {
    if (name === "job" && job.jobId === id) expect(path, (before) => ({ ...before, ...job }));
  }), [id]);
  if (found.problem) return html`<div class="job"><h1>Job ${id}</h1>${found.problem.status === 404 ? html`<p>There is no such job, or it is not yours. Finished jobs are deleted after their retention time.</p>` : html`<${ProblemView} problem=${found.problem} again=${found.again} />`}</div>`;
  if (!found.data) return html`<${Waiting} />`;
  const job = found.data;
  return html`<article class="job"><${Head} job=${job} page=${page} again=${() => { refresh(path); refresh(`${path}/history`); }} />
    ${job.progress !== null && !ended && html`<${Progress} part=${job.progress} note=${job.progressNote} />`}
    <${Timeline} job=${job} history=${past.data?.items ?? []} />
    ${job.lastError && job.state !== "succeeded" && html`<${LastError} error=${job.lastError} />`}
    <${Facts} job=${job} />
    <${JsonBlock} title="Payload" value=${job.payload} />
    ${job.state === "succeeded" && html`<${JsonBlock} title="Result" value=${job.result} />`}
    <${Attempts} entries=${past.data?.items} job=${job} />
    <${Family} family=${family.data} id=${id} />
    <${Log} id=${id} ended=${ended} /></article>`;
}

function Head({ job, page, again }) {
  useEffect(() => { if (page) document.title = `${job.kind} #${job.jobId} · Tenure`; });
  return html`<header><div class="line"><h1 tabindex="-1" class="mono"><bdi>${job.kind}</bdi></h1><${Badge} state=${job.state} />${job.cancelRequested && !FINAL.includes(job.state) && html`<${Badge} state="paused">cancel requested</${Badge}>`}</div>
    <p class="why">${job.why.text}</p>
    <div class="actions"><${Moves} job=${job} again=${again} />
      <${Copy} text=${`tenure jobs show ${job.jobId}`}>tenure</${Copy}>
      <${Copy} text=${`curl -H "authorization: Bearer $TENURE_KEY" ${location.origin}/api/jobs/${job.jobId}`}>curl</${Copy}></div></header>`;
}

function Facts({ job }) {
  const took = job.startedAt && job.finishedAt ? (new Date(job.finishedAt) - new Date(job.startedAt)) / 1000 : null;
  const known = [
    ["Id", job.jobId], ["Queue", job.queue], ["Priority", String(job.priority)], ["Attempt", `${job.attempt} of ${job.maxAttempts}`],
    ["Created", html`<${Time} at=${job.createdAt} />`], ["Due", job.state === "queued" && html`<${Time} at=${job.runAt} />`],
    ["Started", job.startedAt && html`<${Time} at=${job.startedAt} />`], ["Finished", job.finishedAt && html`<${Time} at=${job.finishedAt} />`],
    ["Took", took !== null && (took < 10 ? `${took.toFixed(2)} s` : span(took))], ["Expires", job.expiresAt && html`<${Time} at=${job.expiresAt} />`],
    ["Lease until", job.state === "running" && job.leaseUntil && html`<${Time} at=${job.leaseUntil} />`],
    ["Tenant", job.tenant], ["Owner", job.userId], ["Key", job.key], ["Ordering key", job.orderingKey], ["Crashes", job.crashes ? String(job.crashes) : null],
    ["Worker", job.worker], ["Correlation id", job.correlationId],
  ];
  return html`<dl class="facts">${known.filter(([, value]) => value).map(([name, value]) => html`<div key=${name} class=${typeof value === "string" && value.length > 14 ? "wide" : ""}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

const LastError = ({ error }) => html`<section class="failure"><h2>Last error</h2><p class="error">${errorText(error)}</p>
  ${error.traceback && html`<details><summary>Traceback</summary><pre tabindex="0">${error.traceback}</pre></details>`}</section>`;

function Attempts({ entries, job }) {
  if (!entries) return null;
  return html`<section><h2>Attempts</h2>${entries.length ? html`<ol class="attempts">${[...entries].reverse().map((one) => html`<li key=${`${one.fence} ${one.finishedAt}`}>
    <div class="line"><span class="strong">${one.entry.replaceAll("_", " ")}</span><span class="quiet">${one.attempt ? `attempt ${one.attempt} · ` : ""}<${Time} at=${one.finishedAt} />${one.durationSeconds !== null ? ` · ${one.durationSeconds.toFixed(2)} s` : ""}${one.worker ? html` · <bdi>${one.worker}</bdi>` : ""}</span></div>
    ${one.error && html`<p class="error">${errorText(one.error)}</p>`}
    ${one.error?.traceback && html`<details><summary>Traceback</summary><pre tabindex="0">${one.error.traceback}</pre></details>`}</li>`)}</ol>`
    : html`<p class="quiet">${!job.attempt ? "It has not run yet." : FINAL.includes(job.state) ? "One run, and nothing went wrong in it." : "Its first run has begun."}</p>`}</section>`;
}
