// A job beside the list it was opened from.
import { html, useLayoutEffect, useRef } from "../vendor/ui.js";
import { Icon } from "../shell/icons.js";
import { useKeys } from "../shell/keys.js";
import { JobView } from "./job_view.js";

export function Drawer({ id, rows, open, close }) {
  const dialog = useRef();
  const place = rows.findIndex((one) => one.jobId === id);
  const step = (by) => { const next = rows[place + by]; if (next) open(next.jobId); };
  useLayoutEffect(() => { if (!dialog.current.open) dialog.current.showModal(); }, []);
  useKeys([
    { key: "j", says: "Next job", run: () => step(1) },
    { key: "k", says: "Previous job", run: () => step(-1) },
  ]);
  const outside = (event) => { if (event.target === dialog.current) close(); };
  return html`<dialog class="drawer" id="job" ref=${dialog} onClose=${close} onClick=${outside} aria-label=${`Job ${id}`}>
    <div class="bar">
      <button class="plain" aria-label="Previous job" disabled=${place <= 0} onClick=${() => step(-1)}><${Icon} name="back" /></button>
      <button class="plain" aria-label="Next job" disabled=${place < 0 || place + 1 >= rows.length} onClick=${() => step(1)}><${Icon} name="arrow" /></button>
      <a class="button" href=${`/jobs/${encodeURIComponent(id)}`}><${Icon} name="wide" />Open as page</a>
      <button class="plain close" autofocus aria-label="Close" onClick=${close}><${Icon} name="close" /></button>
    </div>
    <${JobView} key=${id} id=${id} />
  </dialog>`;
}
