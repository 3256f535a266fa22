// The search field: tokens with suggestions for their names and values.
import { html, useEffect, useId, useRef, useState } from "../vendor/ui.js";
import { session } from "../shell/client.js";
import { useData } from "../shell/data.js";
import { FIELDS, token } from "../shell/filter.js";
import { Icon } from "../shell/icons.js";
import { STATES } from "../shell/words.js";

const HINTS = { kind: "the handler's name", state: "queued, running, dead, open, bad …", queue: "the queue's name", tenant: "whose data", user: "who asked for it", key: "unique or ordering key",
  error: "part of the error", group: "an error group", "payload.": "a value in the payload: payload.order.id:42", parent: "the job that enqueued it", id: "one job" };

export function Search({ q, onSearch, focus }) {
  const [text, setText] = useState(q);
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState(-1);
  const input = useRef();
  const id = useId();
  useEffect(() => setText(q), [q]);
  useEffect(() => { if (focus) input.current.focus(); }, []);
  const found = suggestions(text, useKnown(open), input.current?.selectionStart ?? text.length);
  const shown = open && found.length > 0;
  const take = (one) => {
    const whole = replaceLast(text, one.text);
    setText(whole);
    setAt(-1);
    if (one.text.endsWith(":") || one.text.endsWith(".")) input.current.focus();
    else { setOpen(false); onSearch(whole); }
  };
  const press = (event) => {
    if (event.key === "ArrowDown" && found.length) { setOpen(true); setAt((at + 1) % found.length); event.preventDefault(); }
    else if (event.key === "ArrowUp" && shown) { setAt((at - 1 + found.length) % found.length); event.preventDefault(); }
    else if (event.key === "Enter" && shown && at >= 0) { take(found[at]); event.preventDefault(); }
    else if (event.key === "Enter") { setOpen(false); onSearch(text); }
    else if (event.key === "Escape") { if (shown) setOpen(false); else input.current.blur(); event.stopPropagation(); }
  };
  return html`<div class="search" role="search"><${Icon} name="search" />
    <input ref=${input} data-search type="text" role="combobox" aria-label="Search jobs" aria-expanded=${String(shown)} aria-controls=${id} aria-autocomplete="list"
      aria-activedescendant=${shown && at >= 0 ? `${id}-${at}` : null} spellcheck="false" autocomplete="off" placeholder="kind:mail.send state:dead error:timeout payload.order.id:42"
      value=${text} onInput=${(event) => { setText(event.target.value); setOpen(true); setAt(-1); }} onFocus=${() => setOpen(true)} onBlur=${() => setOpen(false)} onKeyDown=${press} />
    ${text && html`<button class="plain" aria-label="Clear the search" onClick=${() => { setText(""); onSearch(""); }}><${Icon} name="close" /></button>`}
    <ul id=${id} role="listbox" aria-label="Suggestions" hidden=${!shown}>${shown && found.map((one, place) => html`<li key=${one.text} id=${`${id}-${place}`} role="option" aria-selected=${String(place === at)}
      onMouseDown=${(event) => { event.preventDefault(); take(one); }}><code>${one.text}</code><span class="quiet">${one.hint}</span></li>`)}</ul>
  </div>`;
}

// Kinds and queues are read once the field is used.
function useKnown(open) {
  const site = session.value.site && open;
  const kinds = useData(site ? "/api/kinds" : null, { every: 60000, hears: false });
  return { kind: kinds.data?.items.map((one) => one.kind) ?? [], queue: [...new Set(kinds.data?.items.map((one) => one.queue) ?? [])], state: [...STATES, "open", "bad"] };
}

const lastWord = (text) => text.match(/\S*$/)[0];
const replaceLast = (text, word) => text.slice(0, text.length - lastWord(text).length) + word;

function suggestions(text, known) {
  const word = lastWord(text);
  const colon = word.indexOf(":");
  if (colon < 0) {
    return FIELDS.filter((one) => one.startsWith(word)).map((one) => ({ text: one.endsWith(".") ? one : `${one}:`, hint: HINTS[one] }));
  }
  const [field, typed] = [word.slice(0, colon), word.slice(colon + 1).toLowerCase()];
  return (known[field] ?? []).filter((one) => one.toLowerCase().includes(typed) && one !== typed).slice(0, 10).map((one) => ({ text: token(field, one), hint: "" }));
}
