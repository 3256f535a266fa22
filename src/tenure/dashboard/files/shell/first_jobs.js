// What a new installation shows: the first job is one click or one command away.
import { html } from "../vendor/ui.js";
import { get, may, post } from "./client.js";
import { useData } from "./data.js";
import { act } from "./notices.js";
import { Act, Copy, Empty, Panel } from "./parts.js";

const SAMPLE_KIND = "demo.mail";

async function addSample() {
  for (const job of await get("/page/sample.json")) await post("/api/jobs", job);
}

export function FirstJobs() {
  const kinds = useData("/api/kinds", { hears: false });
  const sample = kinds.data?.items.some((one) => one.kind === SAMPLE_KIND && one.workers > 0);
  const command = sample ? "tenure enqueue demo.mail --payload '{\"to\": \"ada@example.org\"}'" : "tenure enqueue KIND --payload '{}'";
  return html`<${Panel} id="first"><${Empty} title="No jobs yet">
    <p>Jobs appear here as soon as one is enqueued${sample ? ": add the sample jobs, or enqueue one of your own." : "."}</p>
    <pre tabindex="0">${command}</pre>
    <div class="actions">${sample && may("write") && html`<${Act} class="strong" id="sample" onClick=${() => act(addSample, "The sample jobs are added")}>Add sample jobs</${Act}>`}
      ${may("write") && html`<a class="button" href="/new">New job</a>`}<${Copy} text=${command}>Copy the command</${Copy}></div>
  </${Empty}></${Panel}>`;
}
