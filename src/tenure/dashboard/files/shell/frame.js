// What surrounds every screen: menu, theme, who is there, whether it is live.
import { html, signal, useEffect } from "../vendor/ui.js";
import { address, go } from "./address.js";
import { gone, may, post, session } from "./client.js";
import { Icon, Logo } from "./icons.js";
import { overlay } from "./keys.js";
import { live } from "./live.js";
import { act } from "./notices.js";
import { asOf } from "./parts.js";
import { GROUPS, menu } from "./screens.js";
import { nextTheme, theme } from "./theme.js";

const menuOpen = signal(false);
const THEME_ICONS = { system: "system", light: "sun", dark: "moon" };

export function Frame({ children }) {
  const { path } = address.value;
  useEffect(() => { menuOpen.value = false; }, [path]);
  return html`<div class=${`frame ${gone.value ? "stale" : ""}`}>
    <a class="skip" href="#main" onClick=${(event) => { event.preventDefault(); document.getElementById("main").focus(); }}>Skip to the content</a>
    <header class="side" data-open=${String(menuOpen.value)}>
      <div class="brand">
        <a href="/" class="name"><${Logo} size="26" />Tenure</a>
        <${Live} />
        <button class="plain burger" aria-expanded=${String(menuOpen.value)} aria-controls="menu" aria-label="Menu"
          onClick=${() => { menuOpen.value = !menuOpen.value; }}><${Icon} name=${menuOpen.value ? "close" : "menu"} /></button>
      </div>
      <div class="drawn" id="menu">
        <button class="find" onClick=${() => { overlay.value = "palette"; }}><${Icon} name="search" />Find or do<kbd>Ctrl K</kbd></button>
        <${Menu} path=${path} />
        <${Person} />
      </div>
    </header>
    <main id="main" tabindex="-1">${gone.value && html`<p class="banner bad" role="alert">The server does not answer. Figures are ${asOf(gone.value)}; the page continues by itself when it is back.</p>`}${children}</main>
  </div>`;
}

function Live() {
  const on = live.value && !gone.value;
  return html`<span class=${`live ${on ? "on" : ""}`} title=${on ? "Changes are shown as they happen" : "Changes are not shown as they happen"}>${on ? "live" : gone.value ? "no server" : "not live"}</span>`;
}

function Menu({ path }) {
  const current = (one) => one.path === path || (one.path === "/jobs" && /^\/(jobs|flow)\//.test(path));
  return html`<nav aria-label="Screens">${GROUPS.map((group) => {
    const listed = menu.value.filter((one) => one.group === group);
    return listed.length > 0 && html`<div class="group" key=${group}><p id=${`menu-${group}`}>${group}</p><ul aria-labelledby=${`menu-${group}`}>${listed.map((one) => html`<li key=${one.path}><a
      href=${one.path} aria-current=${current(one) ? "page" : null}><${Icon} name=${one.icon} />${one.title}</a></li>`)}</ul></div>`;
  })}</nav>`;
}

function Person() {
  const leave = () => act(async () => {
    await post("/logout");
    location.assign("/");
  });
  const name = session.value.name.replace(/^session:/, "");
  return html`<div class="person">
    <span class="who" title=${`Permissions: ${session.value.permissions.join(", ")}`}>${name}${!may("write") && html`<small>read only</small>`}</span>
    <button class="plain" title=${`Theme: ${theme.value}`} aria-label=${`Theme: ${theme.value}. Change it`} onClick=${nextTheme}><${Icon} name=${THEME_ICONS[theme.value]} /></button>
    <button class="plain" title="Keyboard help" aria-label="Keyboard help" onClick=${() => { overlay.value = "help"; }}><${Icon} name="keyboard" /></button>
    ${session.value.how === "session" && html`<button class="plain" onClick=${leave}>Log out</button>`}
    ${may("write") && html`<button class="new" onClick=${() => go("/new")}><${Icon} name="add" />New job</button>`}
  </div>`;
}
