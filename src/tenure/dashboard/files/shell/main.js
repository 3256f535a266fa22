// The page: who is there, which screen the address names, and what lies above it.
import { html, render, signal, useEffect, useErrorBoundary, useState } from "../vendor/ui.js";
import { address } from "./address.js";
import { back, gone, session, sessionEnded, whoAmI } from "./client.js";
import { Door, NoServer, NoSuchPage } from "./door.js";
import { Frame } from "./frame.js";
import { overlay } from "./keys.js";
import { Notices, Question } from "./notices.js";
import { Operations } from "./operations.js";
import { Empty, Waiting } from "./parts.js";
import { addressOf, readFeatureScreens, screenAt } from "./screens.js";

const loaded = signal(new Map());

// A module is loaded once; a failed load (the server was away) is tried again.
async function load(path) {
  if (loaded.value.has(path)) return;
  try {
    const module = await import(path);
    loaded.value = new Map(loaded.value).set(path, module.default);
  } catch {
    setTimeout(() => load(path), 2000);
  }
}

function Lazy({ path, ...rest }) {
  useEffect(() => { load(path); }, [path]);
  const Component = loaded.value.get(path);
  return Component ? html`<${Component} ...${rest} />` : html`<${Waiting} />`;
}

// A screen that fails says so; the menu still works.
function Guarded({ children }) {
  const [error, reset] = useErrorBoundary((problem) => console.error(problem));
  if (!error) return children;
  return html`<${Empty} title="This screen has failed"><p>${String(error.message ?? error)}</p><p><button onClick=${reset}>Show it again</button></p></${Empty}>`;
}

function Screen() {
  const found = screenAt(address.value.path);
  if (found === undefined) return html`<${Waiting} />`;
  if (found === null) return html`<${NoSuchPage} />`;
  const { screen, argument } = found;
  return html`<${Guarded} key=${screen.title}><${Lazy} path=${addressOf(screen)} argument=${argument} /></${Guarded}>`;
}

function Overlay() {
  const name = overlay.value;
  return name && html`<${Lazy} key=${name} path=${`/page/parts/${name}.js`} close=${() => { overlay.value = null; }} />`;
}

function App() {
  const [tries, setTries] = useState(0);
  useEffect(() => {
    whoAmI().then(() => session.value && readFeatureScreens(), () => setTimeout(() => setTries(tries + 1), 3000));
  }, [tries, back.value]);
  if (session.value === undefined) return gone.value ? html`<${NoServer} />` : null;
  if (session.value === null || sessionEnded.value) return html`<${Door} ended=${sessionEnded.value} />`;
  return html`<${Frame}><${Screen} /></${Frame}><${Overlay} /><${Question} /><${Operations} /><${Notices} />`;
}

render(html`<${App} />`, document.getElementById("root"));
