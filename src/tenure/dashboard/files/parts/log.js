// The log lines of a job, as they are written.
import { html, useEffect, useRef, useState } from "../vendor/ui.js";
import { listen } from "../shell/live.js";
import { clock } from "../shell/words.js";

const MOST_LINES = 5000;

export function Log({ id }) {
  const [lines, setLines] = useState([]);
  const list = useRef();
  const waiting = useRef([]);
  useEffect(() => {
    // Many lines may come at once: they are drawn together, once per frame.
    const stop = listen((name, data) => {
      if (name === "begin" && data.job === id) { waiting.current = []; setLines([]); }
      if (name !== "log") return;
      if (!waiting.current.length) {
        requestAnimationFrame(() => {
          const added = waiting.current;
          waiting.current = [];
          setLines((before) => [...before, ...added].slice(-MOST_LINES));
        });
      }
      waiting.current.push(data);
    });
    return stop;
  }, [id]);
  useEffect(() => {
    const { current } = list;
    if (current && current.scrollHeight - current.scrollTop - current.clientHeight < 80) current.scrollTop = current.scrollHeight;
  }, [lines]);
  if (!lines.length) return null;
  return html`<section data-part="log"><h2>Log</h2><ol class="log" ref=${list} tabindex="0" aria-label="Log lines">${lines.map((line, at) => html`<li key=${at} class=${line.level}><span class="quiet">${line.at ? clock(line.at) : ""}</span> ${line.message}</li>`)}</ol></section>`;
}
