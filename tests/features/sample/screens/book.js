// The screen of the sample feature: a component over the feature's own route.
import { html } from "/page/vendor/ui.js";
import { Empty, Shown, Title, useData } from "/page/shell.js";

export default function Book() {
  const book = useData("/api/guestbook");
  return html`<${Title} note="Who was here.">Guestbook</${Title}>
    <div class="panel"><${Shown} of=${book}>${(found) => (found.length
      ? html`<ul class="note">${found.map((one) => html`<li key=${one.id}><b>${one.name}</b>: ${one.words}</li>`)}</ul>`
      : html`<${Empty} title="Nobody has signed yet" />`)}</${Shown}></div>`;
}
