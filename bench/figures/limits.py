"""Limits: what a global one costs, and whether a rate is kept while workers are killed."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from bisect import bisect_left
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

from bench.app import fill, make_app
from bench.children import child
from bench.databases import fresh, postgres_server
from bench.drains import Drain, drain
from bench.figures.drain import on, sqlite_drain
from bench.figures.scale import Scale
from bench.result import Result, at_least, at_most
from bench.triples import Measure, Triples, measure
from tenure import Limit, Tenure
from tests.support.servers import PrivateServer

JOBS = 20_000
WIDE = 100_000
RATE = 100
RATE_SECONDS = 20
PROCESSES = 4


def limits(scale: Scale) -> Result:
    """Drains of a limited kind against those of a free one; the fastest second of a rate of 100."""
    jobs = scale.rows(JOBS)
    seen: dict[str, Triples] = {}
    with ExitStack() as stack:
        server = stack.enter_context(postgres_server())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tenure-bench-")))
        for name, what in (
            ("PostgreSQL", Drain(jobs=jobs)),
            ("PostgreSQL, two workers, 5 ms", Drain(jobs=jobs, kind="sleep5", slots=50, workers=2)),
        ):
            print(f"  {name}")
            seen[name] = measure(*(_on(server, one) for one in _pair(what)))
        print("  SQLite")
        free, limited = _pair(Drain(jobs=jobs))
        seen["SQLite"] = measure(
            partial(sqlite_drain, folder, free), partial(sqlite_drain, folder, limited)
        )
        print("  a rate, 4 processes, kills")
        fastest, started = _fastest_second(server, scale.seconds(RATE_SECONDS))
    worst = min(seen.values(), key=lambda triples: triples.ratio)
    burst = Limit(rate=RATE).bucket
    return Result(
        bench="limits",
        value=worst.value,
        unit="jobs/s",
        reference=worst.reference,
        ratio=worst.ratio,
        checks=[
            *(at_least(f"throughput, {name}", each.ratio, 0.85) for name, each in seen.items()),
            at_most(f"most starts in a second at a rate of {RATE}", fastest, RATE + burst),
        ],
        notes=[f"{started:.2f} of the rate was in use while workers were killed and started"]
        + [f"{name}: {note}" for name, each in seen.items() for note in each.notes],
    )


def _pair(what: Drain) -> tuple[Drain, Drain]:
    """Without a limit, and with one that is not reached."""
    return what, replace(what, limit=WIDE)


def _on(server: PrivateServer, what: Drain) -> Measure:
    return on(server, lambda url, pid: drain(url, pid, what))


def _fastest_second(server: PrivateServer, seconds: float) -> tuple[int, float]:
    """Starts by the store's clock while each worker is killed and replaced in turn."""
    with fresh(server) as url:
        app = make_app(url)
        fill(app, "noop", int(RATE * seconds * 2))
        app.limits.set("noop", Limit(rate=RATE))
        deadline, turn = time.monotonic() + seconds, 0
        with ExitStack() as stack:
            workers = []
            for _ in range(PROCESSES):
                workers.append(stack.enter_context(child("bench.worker", url, 20)))
                workers[-1].tell("serve")
            while time.monotonic() < deadline:
                time.sleep(0.5)
                os.kill(workers[turn % PROCESSES].pid, signal.SIGKILL)
                workers[turn % PROCESSES] = stack.enter_context(child("bench.worker", url, 20))
                workers[turn % PROCESSES].tell("serve")
                turn += 1
        starts = _starts(app)
        app.close()
    span = starts[-1] - starts[0]
    most = max(bisect_left(starts, at + 1_000_000) - place for place, at in enumerate(starts))
    return most, len(starts) / (span / 1e6) / RATE


def _starts(app: Tenure) -> list[int]:
    """Of runs that ended, that go on, and that died with their worker."""
    with app.transaction() as tx:
        found = tx.execute(
            "SELECT started_at FROM tenure_jobs WHERE started_at IS NOT NULL UNION ALL "
            "SELECT started_at FROM tenure_attempts WHERE started_at IS NOT NULL"
        )
        return sorted(row[0] for row in found.fetchall())
