// Light, dark, or what the system prefers; kept in this browser.
import { effect, signal } from "../vendor/ui.js";

export const THEMES = ["system", "light", "dark"];
export const theme = signal(remembered("tenure.theme", "system"));
export const systemDark = signal(matchMedia("(prefers-color-scheme: dark)").matches);

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => { systemDark.value = event.matches; });

effect(() => {
  document.documentElement.dataset.theme = theme.value;
  remember("tenure.theme", theme.value);
});

export function nextTheme() {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length];
}

// Storage is refused in some private windows; the page works without it.
export function remembered(name, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(name)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

export function remember(name, value) {
  try {
    localStorage.setItem(name, JSON.stringify(value));
  } catch { /* it holds for this tab only */ }
}
