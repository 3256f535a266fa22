// Line icons of 16 units. They are decoration: the words beside them carry the meaning.
import { html } from "../vendor/ui.js";

const PATHS = {
  overview: "M2 8.5h3l2-5 3 9 2-4h2",
  jobs: "M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.01M2.5 8h.01M2.5 12h.01",
  failures: "M8 2.2 14.4 13H1.6zM8 6.5v3M8 11.4h.01",
  queues: "M2.5 4.5 8 2l5.5 2.5L8 7zM2.5 8 8 10.5 13.5 8M2.5 11.5 8 14l5.5-2.5",
  workers: "M3 3h10v4H3zM3 9h10v4H3zM5.5 5h.01M5.5 11h.01",
  kinds: "M2.5 2.5h5l6 6-5 5-6-6zM5.3 5.3h.01",
  schedules: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2M8 5v3.2l2 1.3",
  outbox: "M2.5 9.5 4 3h8l1.5 6.5v3.5h-11zM2.5 9.5h3l1 1.8h3l1-1.8h3",
  tenants: "M6 7.5a2.4 2.4 0 1 0 0-4.8 2.4 2.4 0 0 0 0 4.8M1.8 13.5c.2-2.6 1.8-4 4.2-4s4 1.4 4.2 4M10.5 3a2.3 2.3 0 0 1 0 4.4M12 9.9c1.4.6 2.1 1.8 2.2 3.6",
  audit: "M4 1.8h5.5L12.5 5v9.2H4zM9.2 2v3.2h3M6 8.2h4.5M6 11h4.5",
  add: "M8 3v10M3 8h10",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9M10.4 10.4 14 14",
  menu: "M2.5 4h11M2.5 8h11M2.5 12h11",
  close: "M4 4l8 8M12 4l-8 8",
  sun: "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6M8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9",
  moon: "M13.5 9.5A5.8 5.8 0 0 1 6.5 2.5a5.8 5.8 0 1 0 7 7",
  system: "M2 3h12v8H2zM6 14h4M8 11v3",
  check: "M3 8.5 6.5 12 13 4.5",
  arrow: "M3 8h10M9 4l4 4-4 4",
  back: "M13 8H3M7 4 3 8l4 4",
  screen: "M2.5 3h11v10h-11zM2.5 6h11",
  wide: "M9.5 2.5h4v4M13.5 2.5 9 7M6.5 13.5h-4v-4M2.5 13.5 7 9",
  docs: "M5.5 4 2 8l3.5 4M10.5 4 14 8l-3.5 4",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  play: "M5 3l8 5-8 5z",
  flow: "M2.5 2.5h4v3.5h-4zM9.5 10h4v3.5h-4zM4.5 6v5.8h5",
  keyboard: "M1.5 4h13v8h-13zM4 6.5h.01M6.7 6.5h.01M9.3 6.5h.01M12 6.5h.01M5 9.5h6",
};

// The same drawing as logo.svg, which is the icon of the tab.
export const Logo = ({ size }) => html`<svg class="logo" width=${size} height=${size} viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="7" fill="#3454d1" /><path d="M8 9.5h16M16 9.5V24" stroke="#fff" stroke-width="3.4" stroke-linecap="round" fill="none" /><circle cx="23" cy="22" r="2.6" fill="#8ff0b4" /></svg>`;

export const Icon = ({ name }) => html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d=${PATHS[name] ?? PATHS.screen} /></svg>`;
