// Asks before something that concerns many jobs.
import { by, h } from "./dom.js";

export function ask(text, yes) {
  const dialog = by("question");
  return new Promise((resolve) => {
    dialog.replaceChildren(
      h("p", { id: "question-text" }, text),
      h("div", { class: "actions" },
        h("button", { onclick: () => dialog.close("no") }, "Leave it"),
        h("button", { class: "strong", onclick: () => dialog.close("yes") }, yes)));
    dialog.returnValue = "no";
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
    dialog.showModal();
  });
}
