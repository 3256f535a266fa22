"""How fast jobs get in: one caller, sixteen, and in bulk; each call durable when it returns."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Thread

from bench.app import make_app
from bench.databases import calm, postgres_server
from bench.figures.drain import on
from bench.figures.scale import Scale
from bench.meters import cpu_seconds
from bench.raw import postgres as raw
from bench.result import Result, at_least, of_triples
from bench.triples import Reading, measure
from tenure import JobFilter, State, Tenure

AT_ONCE = 1_000


def one(scale: Scale) -> Result:
    """A single caller."""
    return _single("enqueue-one", scale.rows(2_000), 1)


def sixteen(scale: Scale) -> Result:
    """Sixteen threads of one process."""
    return _single("enqueue-16", scale.rows(8_000), 16)


def many(scale: Scale) -> Result:
    """`enqueue_many` of 1,000 against one array insert of 1,000."""
    jobs = scale.rows(40_000)
    with postgres_server() as server:
        seen = measure(
            on(server, lambda url, pid: raw.insert_many(url, pid, jobs, AT_ONCE)),
            on(server, lambda url, pid: _timed(url, pid, jobs, 1, _enqueue_many)),
        )
    checks = [at_least("of a raw array insert", seen.ratio, 0.6)]
    return of_triples("enqueue-many", "jobs/s", seen, checks)


def _single(name: str, jobs: int, callers: int) -> Result:
    with postgres_server() as server:
        seen = measure(
            on(server, lambda url, pid: raw.insert(url, pid, jobs, callers)),
            on(server, lambda url, pid: _timed(url, pid, jobs, callers, _enqueue_one_by_one)),
        )
    checks = [at_least("of raw prepared INSERTs", seen.ratio, 0.8)]
    return of_triples(name, "jobs/s", seen, checks)


def _timed(
    url: str, server: int, jobs: int, callers: int, work: Callable[[Tenure, int], None]
) -> Reading:
    app = make_app(url)
    app.enqueue("noop")
    calm(url)
    each = jobs // callers
    threads = [Thread(target=work, args=(app, each)) for _ in range(callers)]
    charged, used, begun = cpu_seconds(server), time.process_time(), time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds, cpu = time.perf_counter() - begun, time.process_time() - used
    charged = cpu_seconds(server) - charged
    done = each * callers
    if (found := app.store.jobs.count(JobFilter()).get(State.QUEUED, 0)) != done + 1:
        raise SystemExit(f"{found} of {done + 1} jobs were added")
    app.close()
    return Reading(value=done / seconds, worker_us=cpu / done * 1e6, server_us=charged / done * 1e6)


def _enqueue_one_by_one(app: Tenure, count: int) -> None:
    for _ in range(count):
        app.enqueue("noop")


def _enqueue_many(app: Tenure, count: int) -> None:
    for _ in range(count // AT_ONCE):
        app.enqueue_many([app.new("noop") for _ in range(AT_ONCE)])
