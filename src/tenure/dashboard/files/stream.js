// Server-sent events while the page is seen. A hidden page holds no connection: browsers have few.
import { parse } from "./exact.js";

export class Stream {
  constructor(path, handlers, changed = () => {}) {
    this.path = path;
    this.handlers = handlers;
    this.changed = changed;
    this.source = null;
    this.seen = () => (document.hidden ? this.pause() : this.open());
    document.addEventListener("visibilitychange", this.seen);
    this.open();
  }

  open() {
    if (this.source || document.hidden) return;
    this.handlers.begin?.();
    this.source = new EventSource(this.path);
    this.source.addEventListener("open", () => this.changed(true));
    this.source.addEventListener("error", () => {
      this.changed(false);
      if (this.source?.readyState === EventSource.CLOSED) this.again();
    });
    for (const name of ["ready", "reset", "job", "log", "end"]) {
      this.source.addEventListener(name, (event) => this.handlers[name]?.(parse(event.data || "{}")));
    }
  }

  // Refused (too many, or the session is over): browsers give up then, we try again later.
  again() {
    this.pause();
    this.handlers.refused?.();
    this.timer = setTimeout(() => this.open(), 5000);
  }

  pause() {
    clearTimeout(this.timer);
    this.source?.close();
    this.source = null;
    this.changed(false);
  }

  close() {
    document.removeEventListener("visibilitychange", this.seen);
    this.pause();
  }
}
