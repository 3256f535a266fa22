// Elements from plain values. Text is only ever set as text: nothing that a job says becomes markup.
import { stringify } from "./exact.js";

export function h(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name in node && typeof value !== "string") node[name] = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export const by = (id) => document.getElementById(id);

// While a button of the mouse is down nothing is drawn anew: a click on what has been replaced since
// would be lost. The latest of each owner is drawn right after it.
const waiting = new Map();
let pressed = false;

export function still(owner, draw) {
  if (pressed) waiting.set(owner, draw);
  else draw();
}

addEventListener("pointerdown", () => { pressed = true; }, true);
for (const name of ["pointerup", "pointercancel", "blur"]) {
  addEventListener(name, () => setTimeout(() => {
    pressed = false;
    const draws = [...waiting.values()];
    waiting.clear();
    for (const draw of draws) draw();
  }), true);
}

// Bring the children of `parent` into line with `items`. What did not change keeps its element, and
// with it the focus; where the focused one is drawn anew, its successor gets the focus.
export function sync(parent, items, key, draw) {
  still(parent, () => syncNow(parent, items, key, draw));
}

function syncNow(parent, items, key, draw) {
  const before = new Map([...parent.children].map((node) => [node.dataset.key, node]));
  const focus = focusIn(parent);
  items.forEach((item, place) => {
    const name = String(key(item));
    const sign = stringify(item);
    let node = before.get(name);
    if (!node || node.sign !== sign) {
      node?.remove();
      node = draw(item);
      node.dataset.key = name;
      node.sign = sign;
    }
    before.delete(name);
    if (parent.children[place] !== node) parent.insertBefore(node, parent.children[place] ?? null);
  });
  for (const node of before.values()) node.remove();
  while (parent.children.length > items.length) parent.lastElementChild.remove();
  if (focus && document.activeElement === document.body) focusAgain(parent, focus);
}

function focusIn(parent) {
  const focused = parent.contains(document.activeElement) ? document.activeElement : null;
  const row = focused?.closest("[data-key]");
  return row && { key: row.dataset.key, what: focused.dataset.what };
}

function focusAgain(parent, { key, what }) {
  const row = [...parent.children].find((node) => node.dataset.key === key);
  const same = row && [...row.querySelectorAll("[data-what]")].find((node) => node.dataset.what === what);
  (same ?? row?.querySelector("a, button"))?.focus();
}

// At most one call in so many milliseconds, and the last one is never left out.
export function seldom(milliseconds, work) {
  let timer = null;
  let last = 0;
  return () => {
    if (timer !== null) return;
    timer = setTimeout(() => {
      timer = null;
      last = Date.now();
      work();
    }, Math.max(0, last + milliseconds - Date.now()));
  };
}
