// The pages of a search, newest first. The first page is kept fresh; older ones are added as they
// are scrolled to.
import { useEffect, useRef, useState } from "../vendor/ui.js";
import { get } from "../shell/client.js";
import { useData } from "../shell/data.js";
import { searched } from "../shell/filter.js";
import { listen } from "../shell/live.js";

const PAGE = 100;
const NONE = { rows: [], next: null, searched: 0, complete: true };

export function useJobs(q) {
  const path = searched(`/api/jobs?pageSize=${PAGE}&include=why`, q);
  const first = useData(path, { every: 15000 });
  const [older, setOlder] = useState(NONE);
  const [changes, setChanges] = useState(new Map());
  const asking = useRef(false);
  useEffect(() => { setOlder(NONE); setChanges(new Map()); }, [path]);
  // What the first page says now replaces what was heard since the last one.
  useEffect(() => { setChanges(new Map()); }, [first.data]);
  useEffect(() => listen((name, job) => {
    if (name === "job" && job.jobId) setChanges((before) => new Map(before).set(job.jobId, job));
  }), []);
  const started = older.rows.length > 0;
  const next = started ? older.next : first.data?.next ?? null;
  const more = async () => {
    if (asking.current || next === null) return;
    asking.current = true;
    try {
      const page = await get(`${path}&after=${encodeURIComponent(next)}`);
      setOlder((before) => ({ rows: [...before.rows, ...page.items], next: page.next,
        searched: (before.searched || first.data.searched || 0) + (page.searched ?? 0), complete: page.complete }));
    } finally {
      asking.current = false;
    }
  };
  const fresh = first.data?.items ?? [];
  const seen = new Set(fresh.map((one) => one.jobId));
  const rows = [...fresh, ...older.rows.filter((one) => !seen.has(one.jobId))]
    .map((one) => (changes.has(one.jobId) ? heard(one, changes.get(one.jobId)) : one));
  return { rows, next, more, problem: first.problem, again: first.again, loaded: first.data !== undefined,
    searched: started ? older.searched : first.data?.searched ?? 0, complete: started ? older.complete : first.data?.complete ?? true };
}

// Events carry neither the error nor the reason of waiting; the latter holds while the state does.
const heard = (row, change) => ({ ...row, ...change, lastError: row.lastError, why: row.state === change.state ? row.why : null });
