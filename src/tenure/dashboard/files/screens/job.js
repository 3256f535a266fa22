// One job as a page.
import { html } from "../vendor/ui.js";
import { JobView } from "../parts/job_view.js";

export default function JobPage({ argument }) {
  return html`<p class="crumbs"><a href="/jobs">Jobs</a> / #${argument}</p><div class="panel alone"><${JobView} key=${argument} id=${argument} page /></div>`;
}
