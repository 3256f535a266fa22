// `?`: the keyboard map.
import { html, useLayoutEffect, useRef } from "../vendor/ui.js";
import { GENERAL, screenKeys, setSingleKeys, singleKeys } from "../shell/keys.js";
import { menu } from "../shell/screens.js";

export default function Help({ close }) {
  const dialog = useRef();
  useLayoutEffect(() => { dialog.current.showModal(); }, []);
  const here = screenKeys.value.flat().filter((one, at, all) => all.findIndex((other) => other.key === one.key) === at);
  return html`<dialog class="help" ref=${dialog} onClose=${close} aria-labelledby="help-title">
    <h2 id="help-title">Keyboard</h2>
    <div class="columns"><${Keys} title="Everywhere" keys=${[...GENERAL.map((one) => [one.key, one.says]), ["Ctrl K", "Find or do"], ["Esc", "Close"]]} />
      <${Keys} title="Go to" keys=${menu.value.filter((one) => one.key).map((one) => [`g ${one.key}`, one.title])} />
      ${here.length > 0 && html`<${Keys} title="On this screen" keys=${here.map((one) => [one.key === "Escape" ? "Esc" : one.key, one.says])} />`}</div>
    <label class="check"><input type="checkbox" checked=${singleKeys.value} onChange=${(event) => setSingleKeys(event.target.checked)} /> Single keys work (Ctrl K always does)</label>
    <div class="actions end"><button class="strong" autofocus onClick=${() => dialog.current.close()}>Close</button></div>
  </dialog>`;
}

const Keys = ({ title, keys }) => html`<div><h3>${title}</h3><dl>${keys.map(([key, says]) => html`<dt key=${key}>${key.split(" ").map((one) => html`<kbd>${one}</kbd> `)}</dt><dd>${says}</dd>`)}</dl></div>`;
