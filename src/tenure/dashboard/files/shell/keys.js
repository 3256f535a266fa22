// The keyboard map: single keys, `g` and a letter, and Ctrl-K. Screens add keys of their own.
import { signal, useEffect } from "../vendor/ui.js";
import { go } from "./address.js";
import { menu } from "./screens.js";
import { nextTheme, remember, remembered } from "./theme.js";

// "palette", "help" or null.
export const overlay = signal(null);
// Single keys can be switched off: they disturb people who speak their input.
export const singleKeys = signal(remembered("tenure.keys", true));
export const screenKeys = signal([]);
let afterG = 0;

export function setSingleKeys(on) {
  singleKeys.value = on;
  remember("tenure.keys", on);
}

export const GENERAL = [
  { key: "?", says: "Show this help", run: () => { overlay.value = "help"; } },
  { key: "/", says: "Search", run: () => focusSearch() },
  { key: "n", says: "New job", run: () => go("/new") },
  { key: "t", says: "Change the theme", run: nextTheme },
];

function focusSearch() {
  const input = document.querySelector("[data-search]");
  if (input) input.focus();
  else go("/jobs?focus=1");
}

// keys: [{ key, says, run }]; they hold while the component is on the screen.
export function useKeys(keys) {
  useEffect(() => {
    screenKeys.value = [...screenKeys.value, keys];
    return () => { screenKeys.value = screenKeys.value.filter((one) => one !== keys); };
  });
}

const typing = (target) => target.closest?.("input, textarea, select, [contenteditable]");

addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    event.preventDefault();
    overlay.value = overlay.value === "palette" ? null : "palette";
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
  if (!singleKeys.value || document.querySelector("dialog[open]:not(.drawer)")) return;
  const found = meant(event);
  if (!found) return;
  event.preventDefault();
  found.run(event);
});

function meant(event) {
  if (Date.now() - afterG < 1500) {
    afterG = 0;
    const screen = menu.value.find((one) => one.key === event.key);
    if (screen) return { run: () => go(screen.path) };
  }
  if (event.key === "g") {
    afterG = Date.now();
    return null;
  }
  // A drawer's keys hide those of the list below it; Escape closes it, which browsers do themselves.
  const inDrawer = document.querySelector("dialog[open]");
  if (inDrawer && event.key === "Escape") return null;
  for (const keys of inDrawer ? screenKeys.value.slice(-1) : screenKeys.value) {
    const found = keys.find((one) => one.key === event.key);
    if (found) return found;
  }
  return GENERAL.find((one) => one.key === event.key);
}
