// Pages for people who are not let in: strangers, ended sessions, and addresses that do not exist.
import { html, useEffect } from "../vendor/ui.js";
import { Logo } from "./icons.js";

export function Door({ ended }) {
  useEffect(() => { document.title = `${ended ? "Session ended" : "Log in"} · Tenure`; });
  return html`<main class="stranger" id="stranger">
    <${Logo} size="44" />
    <h1>${ended ? "Your session has ended" : "Log in to Tenure"}</h1>
    <p>${ended ? "It was closed, or it has expired. " : ""}Open this page with a single-use link. <code>tenure up</code> prints one when it starts. To create another, run this where Tenure is installed:</p>
    <pre tabindex="0">tenure keys link me --permission admin --base-url ${location.origin}</pre>
    ${ended && html`<p><button onClick=${() => location.reload()}>I have a new session: reload</button></p>`}
  </main>`;
}

export function NoSuchPage() {
  useEffect(() => { document.title = "No such page · Tenure"; });
  return html`<div class="empty lone"><h1>There is no such page</h1>
    <p>Nothing is at <code>${location.pathname}</code>. The link may be mistyped, or the feature that had this screen is not installed.</p>
    <p><a href="/">Open the overview</a> or <a href="/jobs">search for jobs</a>.</p></div>`;
}

export function NoServer() {
  return html`<main class="stranger"><h1>The server does not answer</h1><p>The page tries again every few seconds.</p></main>`;
}
