// The neighbourhood of a job: what enqueued it, what it waits for, what waits for it, what it enqueued.
import { html, useEffect, useState } from "../vendor/ui.js";
import { get } from "../shell/client.js";
import { useData } from "../shell/data.js";
import { Badge, Empty, ProblemView, Title, Waiting } from "../shell/parts.js";
import { plural } from "../shell/words.js";
import { arrange } from "../parts/flow_layout.js";

const MOST = 12;

// The family of the job, and of its parent and children: two steps in each direction at most.
async function explore(id) {
  const jobs = new Map();
  const links = new Map();
  const left = { count: 0 };
  const add = (job) => { if (job) jobs.set(job.jobId, job); };
  const link = (from, to, sort) => { if (from && to) links.set(`${from} ${to}`, { from, to, sort }); };
  const visit = async (one, deep) => {
    const [job, family] = await Promise.all([get(`/api/jobs/${encodeURIComponent(one)}`), get(`/api/jobs/${encodeURIComponent(one)}/family`)]);
    add(job);
    add(family.parent);
    link(family.parent?.jobId, one, "enqueued");
    const some = (all) => { left.count += Math.max(0, all.length - MOST); return all.slice(0, MOST); };
    for (const each of some(family.children)) { add(each); link(one, each.jobId, "enqueued"); }
    for (const each of some(family.waitsFor)) { add(each); link(each.jobId, one, "after"); }
    for (const each of some(family.dependents)) { add(each); link(one, each.jobId, "after"); }
    if (deep) for (const each of [family.parent, ...family.waitsFor, ...family.dependents].filter(Boolean).slice(0, 6)) await visit(each.jobId, false);
  };
  await visit(id, true);
  return { jobs: [...jobs.values()], links: [...links.values()], left: left.count };
}

export default function Flow({ argument }) {
  const [found, setFound] = useState({});
  const job = useData(`/api/jobs/${encodeURIComponent(argument)}`, { every: 5000 });
  useEffect(() => { explore(argument).then((graph) => setFound({ graph }), (problem) => setFound({ problem })); }, [argument, job.data?.state]);
  return html`<p class="crumbs"><a href="/jobs">Jobs</a> / <a href=${`/jobs/${encodeURIComponent(argument)}`}>#${argument}</a> / Flow</p>
    <${Title} note="Solid lines: enqueued by. Dashed lines: waits for.">Flow of job ${argument}</${Title}>
    <div class="panel">${found.problem ? html`<${ProblemView} problem=${found.problem} />` : found.graph ? html`<${Graph} graph=${found.graph} id=${argument} />` : html`<${Waiting} />`}</div>`;
}

function Graph({ graph, id }) {
  if (graph.jobs.length < 2) return html`<${Empty} title="This job stands alone"><p>No job enqueued it, it enqueued none, and no job waits for it.</p></${Empty}>`;
  const { nodes, width, height } = arrange(graph.jobs, graph.links);
  const at = new Map(nodes.map((one) => [one.job.jobId, one]));
  return html`<div class="scroll flow" tabindex="0" role="region" aria-label="Graph of jobs">
    <div class="canvas" style=${{ width: `${width}px`, height: `${height}px` }}>
      <svg width=${width} height=${height} aria-hidden="true">${graph.links.map((one) => html`<path key=${`${one.from} ${one.to}`} class=${one.sort} d=${curve(at.get(one.from), at.get(one.to))} />`)}</svg>
      <ul>${nodes.map((one) => html`<li key=${one.job.jobId} class=${one.job.jobId === id ? "here" : ""} style=${{ left: `${one.x}px`, top: `${one.y}px` }}><a href=${`/jobs/${encodeURIComponent(one.job.jobId)}`} title=${one.job.kind}><bdi>${one.job.kind}</bdi></a><span class="line"><span class="quiet">#${one.job.jobId}</span><${Badge} state=${one.job.state} /></span>
        <span class="unseen">${relations(one.job.jobId, graph.links)}</span></li>`)}</ul></div>
    ${graph.left > 0 && html`<p class="foot quiet">${plural(graph.left, "further job")} not drawn.</p>`}</div>`;
}

const curve = (from, to) => `M${from.x + 200} ${from.y + 28} C ${from.x + 240} ${from.y + 28}, ${to.x - 40} ${to.y + 28}, ${to.x} ${to.y + 28}`;
const relations = (id, links) => links.filter((one) => one.to === id).map((one) => (one.sort === "after" ? `waits for ${one.from}` : `enqueued by ${one.from}`)).join(", ");
