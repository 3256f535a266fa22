// What is told for a moment at the edge of the page, the question before a large step, and `act`.
import { html, signal, useLayoutEffect, useRef } from "../vendor/ui.js";

export const notice = signal(null);
export const question = signal(null);
let noticeTimer = null;

export function tell(text, { tone = "fine", undo = null } = {}) {
  clearTimeout(noticeTimer);
  notice.value = text ? { text, tone, undo } : null;
  noticeTimer = setTimeout(() => { notice.value = null; }, undo ? 10000 : 6000);
}

// Does it and says how it went: `done` is a text, or makes one of the answer.
export async function act(work, done, undo = null) {
  try {
    const found = await work();
    const text = typeof done === "function" ? done(found) : done;
    if (text) tell(text, { undo });
    return found;
  } catch (problem) {
    tell(problem.status === 403 ? `You may not do that: ${problem.message}` : problem.message, { tone: "bad" });
    return undefined;
  }
}

// Resolves to true or false.
export function ask({ title, text, yes, danger = false }) {
  return new Promise((resolve) => { question.value = { title, text, yes, danger, resolve }; });
}

export function Notices() {
  const told = notice.value;
  return html`<div class="said" role="status" aria-live="polite" data-tone=${told?.tone}>
    ${told && html`<span>${told.text}</span>`}
    ${told?.undo && html`<button onClick=${() => { tell(""); told.undo(); }}>Undo</button>`}
  </div>`;
}

export function Question() {
  const asked = question.value;
  const dialog = useRef();
  const answer = useRef(null);
  useLayoutEffect(() => {
    if (!asked) return;
    answer.current = false;
    dialog.current.showModal();
  }, [asked]);
  if (!asked) return null;
  const close = (value) => { answer.current = value; dialog.current.close(); };
  const closed = () => { question.value = null; asked.resolve(answer.current); };
  const submit = (event) => {
    event.preventDefault();
    close(true);
  };
  return html`<dialog class="question" ref=${dialog} onClose=${closed} aria-labelledby="question-title">
    <form onSubmit=${submit}>
      <h2 id="question-title">${asked.title}</h2>
      ${asked.text && html`<p>${asked.text}</p>`}
      <div class="actions end">
        <button type="button" onClick=${() => close(false)}>Keep as it is</button>
        <button type="submit" class=${asked.danger ? "strong danger" : "strong"} autofocus>${asked.yes}</button>
      </div>
    </form>
  </dialog>`;
}
