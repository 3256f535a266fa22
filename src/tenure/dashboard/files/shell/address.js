// The address is the state of the page: what can be reloaded, sent to a colleague and gone back to.
import { signal } from "../vendor/ui.js";

const readAddress = () => ({ path: location.pathname, query: new URLSearchParams(location.search) });
export const address = signal(readAddress());

export function go(to, { replace = false } = {}) {
  const before = location.pathname;
  if (to !== location.pathname + location.search) history[replace ? "replaceState" : "pushState"](null, "", to);
  address.value = readAddress();
  if (location.pathname !== before) scrollTo(0, 0);
}

// This address with other parameters; null removes one.
export function withQuery(changes) {
  const query = new URLSearchParams(address.value.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  return address.value.path + (text ? `?${text}` : "");
}

addEventListener("popstate", () => { address.value = readAddress(); });

// Links stay links: they can be opened in a new tab, copied and read by screen readers.
const ELSEWHERE = /^\/(api|openapi\.json|metrics|v1|worker|files|login|logout)(\/|$|\?)/;
addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  if (link.target || link.origin !== location.origin || ELSEWHERE.test(link.pathname) || link.getAttribute("href").startsWith("#")) return;
  event.preventDefault();
  go(link.pathname + link.search);
});
