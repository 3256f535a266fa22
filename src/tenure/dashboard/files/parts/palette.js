// Ctrl-K: open a screen, a job by its id, a search, or do something.
import { html, useLayoutEffect, useMemo, useRef, useState } from "../vendor/ui.js";
import { go } from "../shell/address.js";
import { may } from "../shell/client.js";
import { Icon } from "../shell/icons.js";
import { overlay } from "../shell/keys.js";
import { menu } from "../shell/screens.js";
import { THEMES, theme } from "../shell/theme.js";

function commands(text) {
  const typed = text.trim();
  const found = [];
  if (/^#?\d+$/.test(typed)) found.push({ title: `Open job ${typed.replace("#", "")}`, icon: "jobs", run: () => go(`/jobs/${typed.replace("#", "")}`) });
  if (typed) found.push({ title: `Search jobs for “${typed}”`, icon: "search", run: () => go(`/jobs?q=${encodeURIComponent(typed)}`), last: true });
  const fixed = [
    ...menu.value.map((one) => ({ title: one.title, icon: one.icon, hint: one.key && `g ${one.key}`, run: () => go(one.path) })),
    ...(may("write") ? [{ title: "New job", icon: "add", hint: "n", run: () => go("/new") }] : []),
    { title: "Jobs that failed", icon: "failures", run: () => go("/jobs?q=state%3Abad") },
    { title: "Jobs that run now", icon: "play", run: () => go("/jobs?q=state%3Arunning") },
    ...THEMES.map((one) => ({ title: `Theme: ${one}`, icon: "sun", run: () => { theme.value = one; } })),
    { title: "Keyboard help", icon: "keyboard", hint: "?", run: () => { overlay.value = "help"; } },
  ].filter((one) => one.title.toLowerCase().includes(typed.toLowerCase()));
  return [...found.filter((one) => !one.last), ...fixed, ...found.filter((one) => one.last)];
}

export default function Palette({ close }) {
  const dialog = useRef();
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const found = useMemo(() => commands(text), [text]);
  useLayoutEffect(() => { dialog.current.showModal(); }, []);
  const run = (one) => { dialog.current.close(); one?.run(); };
  const press = (event) => {
    const way = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (way) { event.preventDefault(); setAt((at + way + found.length) % Math.max(1, found.length)); }
    if (event.key === "Enter") { event.preventDefault(); run(found[at]); }
  };
  return html`<dialog class="palette" ref=${dialog} onClose=${close} onClick=${(event) => event.target === dialog.current && dialog.current.close()} aria-label="Find or do">
    <input type="text" role="combobox" aria-expanded="true" aria-controls="palette-list" aria-activedescendant=${found.length ? `palette-${at}` : null} aria-label="Find a screen, a job or a command" autocomplete="off" spellcheck="false" autofocus
      placeholder="Screen, job id, search or command" value=${text} onInput=${(event) => { setText(event.target.value); setAt(0); }} onKeyDown=${press} />
    <ul role="listbox" id="palette-list" aria-label="Commands">${found.map((one, place) => html`<li key=${one.title} id=${`palette-${place}`} role="option" aria-selected=${String(place === at)} onClick=${() => run(one)}><${Icon} name=${one.icon} />${one.title}${one.hint && html`<span class="quiet"><kbd>${one.hint}</kbd></span>`}</li>`)}</ul>
  </dialog>`;
}
