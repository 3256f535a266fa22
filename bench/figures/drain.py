"""How fast a queue is emptied, everything settled and durable."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bench.databases import fresh, mariadb_server, postgres_server
from bench.drains import Drain, drain
from bench.figures.scale import Scale
from bench.peers import measured
from bench.raw import mariadb as raw_mariadb
from bench.raw import postgres as raw_postgres
from bench.raw import sqlite as raw_sqlite
from bench.result import Result, at_least, of_triples
from bench.triples import Measure, Reading, measure
from tests.support.servers import PrivateServer

JOBS = 20_000
THREAD_SLOTS = 100
SLEEP_SLOTS = 100
IDEAL_SLEEP = 20_000.0


def postgres(scale: Scale) -> Result:
    """No-op jobs, one worker, against the raw loop and PgQueuer."""
    jobs = scale.rows(JOBS)
    with postgres_server() as server:
        raw = on(server, lambda url, pid: raw_postgres.drain(url, pid, jobs))
        ours = on(server, lambda url, pid: drain(url, pid, Drain(jobs=jobs)))
        peer = on(server, lambda url, pid: measured.pgqueuer(url, pid, "noop", jobs))
        seen = measure(raw, ours, peer)
    checks = [
        at_least("of the raw batch-200 loop", seen.ratio, 0.6),
        at_least("x PgQueuer", seen.ratio_peer or 0, 2),
    ]
    return of_triples("drain-postgres", "jobs/s", seen, checks)


def sqlite(scale: Scale) -> Result:
    """No-op jobs, one worker, `synchronous=FULL`, against the raw fused loop and Huey."""
    jobs, fewer = scale.rows(JOBS), scale.rows(5_000)
    with tempfile.TemporaryDirectory(prefix="tenure-bench-") as name:
        folder = Path(name)
        seen = measure(
            partial(raw_sqlite.drain, folder, jobs),
            partial(sqlite_drain, folder, Drain(jobs=jobs)),
            partial(measured.huey, folder, "noop", fewer),
        )
    checks = [
        at_least("of the raw fused loop", seen.ratio, 0.25),
        at_least("x Huey", seen.ratio_peer or 0, 10),
    ]
    return of_triples("drain-sqlite", "jobs/s", seen, checks)


def mariadb(scale: Scale) -> Result:
    """No-op jobs, one worker, against the raw fused loop."""
    jobs = scale.rows(JOBS)
    with mariadb_server() as server:
        raw = on(server, lambda url, pid: raw_mariadb.drain(url, pid, jobs))
        seen = measure(raw, on(server, lambda url, pid: drain(url, pid, Drain(jobs=jobs))))
    checks = [at_least("of the raw fused loop", seen.ratio, 0.5)]
    return of_triples("drain-mariadb", "jobs/s", seen, checks)


def two(scale: Scale) -> Result:
    """Two worker processes against one."""
    jobs = scale.rows(2 * JOBS)
    with postgres_server() as server:
        one = on(server, lambda url, pid: drain(url, pid, Drain(jobs=jobs)))
        both = on(server, lambda url, pid: drain(url, pid, Drain(jobs=jobs, workers=2)))
        seen = measure(one, both)
    return of_triples("drain-two", "jobs/s", seen, [at_least("x one worker", seen.ratio, 1.15)])


def threads(scale: Scale) -> Result:
    """Plain `def` handlers in the thread pool against `async def` ones."""
    jobs = scale.rows(JOBS)
    plain = Drain(jobs=jobs, kind="noop.sync", slots=THREAD_SLOTS)
    with postgres_server() as server:
        loop = on(server, lambda url, pid: drain(url, pid, Drain(jobs=jobs)))
        seen = measure(loop, on(server, lambda url, pid: drain(url, pid, plain)))
    return of_triples("threads", "jobs/s", seen, [at_least("of drain-postgres", seen.ratio, 0.35)])


def sleep5(scale: Scale) -> Result:
    """Jobs that wait 5 ms, in 100 slots: at best 20,000 a second. PgQueuer stands on both sides."""
    jobs, fewer = scale.rows(JOBS), scale.rows(JOBS / 2)
    waiting = Drain(jobs=jobs, kind="sleep5", slots=SLEEP_SLOTS)
    with postgres_server() as server:
        peer = on(server, lambda url, pid: measured.pgqueuer(url, pid, "sleep5", fewer))
        seen = measure(peer, on(server, lambda url, pid: drain(url, pid, waiting)))
    return Result(
        bench="sleep5",
        value=seen.value,
        unit="jobs/s",
        reference=IDEAL_SLEEP,
        ratio=seen.value / IDEAL_SLEEP,
        ratio_peer=seen.ratio,
        cpu_us=seen.worker_us,
        server_us=seen.server_us,
        checks=[
            at_least("of the ideal 20,000/s", seen.value / IDEAL_SLEEP, 0.45),
            at_least("x PgQueuer", seen.ratio, 1.4),
        ],
        notes=seen.notes,
    )


def on(server: PrivateServer, work: Callable[[str, int], Reading]) -> Measure:
    """The same work, each time in an empty database of this server."""

    def measured_once() -> Reading:
        with fresh(server) as url:
            return work(url, server.process.pid)

    return measured_once


def sqlite_drain(folder: Path, what: Drain) -> Reading:
    """Tenure on a new file."""
    for old in folder.glob("tenure.db*"):
        old.unlink()
    return drain(f"sqlite:///{folder / 'tenure.db'}", None, what)
