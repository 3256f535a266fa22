// A value of a job as exact JSON text. Large ones are cut until somebody asks for the rest.
import { html, useMemo, useState } from "../vendor/ui.js";
import { stringify } from "../shell/exact.js";
import { Copy } from "../shell/parts.js";
import { number } from "../shell/words.js";

const SHOWN = 20000;

export function JsonBlock({ title, value }) {
  const text = useMemo(() => stringify(value, 2) ?? "null", [value]);
  const [all, setAll] = useState(false);
  const cut = !all && text.length > SHOWN;
  return html`<section data-part=${title.toLowerCase()}><div class="line"><h2>${title}</h2><${Copy} text=${text}>Copy</${Copy}></div>
    <pre tabindex="0" aria-label=${title}>${cut ? text.slice(0, SHOWN) : text}</pre>
    ${cut && html`<button class="link" onClick=${() => setAll(true)}>Show all ${number(text.length)} characters</button>`}</section>`;
}
