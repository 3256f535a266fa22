"""How soon a thousand waiters are answered: from the commit of the end to the answer."""

from __future__ import annotations

import asyncio
import time

import psycopg

from bench.app import make_app
from bench.children import child
from bench.databases import fresh, postgres_server
from bench.figures.scale import Scale
from bench.figures.wake import bare_notify
from bench.meters import percentile
from bench.result import Result, at_most
from tenure import JobRef, Tenure
from tenure.stores.sql.statement import Rows, Statement
from tenure.stores.sql.store import SqlStore

WAITERS = 1_000
SLOTS = 2
ALL_AT_ONCE = 100
BUDGET_SECONDS = 60.0


def wait(scale: Scale) -> Result:
    """1,000 waiters of one process, the worker in another; 5 ms jobs, two at a time."""
    with postgres_server() as server:
        with fresh(server) as url:
            bare = bare_notify(url)
            late, statements, connections = run(url, SLOTS)
        with fresh(server) as url:
            burst, _, _ = run(url, ALL_AT_ONCE)
    p95 = percentile(late, 0.95)
    return Result(
        bench="wait",
        value=p95,
        unit="ms",
        reference=bare,
        ratio=p95 / bare,
        checks=[
            at_most("p95 ms after the commit", p95, 100),
            at_most("statements of a waiter", statements / WAITERS, 3),
            at_most("connections of 1,000 waiters", connections, 5),
        ],
        notes=[
            f"p50 {percentile(late, 0.5):.2f}, p99 {percentile(late, 0.99):.2f} ms",
            f"all ending within a moment ({ALL_AT_ONCE} slots): "
            f"p50 {percentile(burst, 0.5):.1f}, p95 {percentile(burst, 0.95):.1f} ms",
        ],
    )


def run(url: str, slots: int) -> tuple[list[float], int, int]:
    """How late each was answered, the statements of all of them, and their connections."""
    app = make_app(f"{url}?application_name=waiting")
    refs = app.enqueue_many([app.new("sleep5") for _ in range(WAITERS)])
    statements = counted(app)
    with child("bench.worker", url, slots) as worker:
        late = asyncio.run(answered(app, refs, lambda: worker.ask("serve")))
        connections = open_connections(url)
        worker.ask("stop")
    app.close()
    return late, statements[0], connections


async def answered(app: Tenure, refs: list[JobRef], start: object) -> list[float]:
    """Milliseconds from `finished_at` (the server's clock, this machine) to the answer."""

    async def one(ref: JobRef) -> float:
        job = await app.wait_async(ref, BUDGET_SECONDS)
        now = time.time()
        if job.finished_at is None:
            raise SystemExit(f"job {ref.id} did not end within {BUDGET_SECONDS:.0f} s")
        return (now - job.finished_at.timestamp()) * 1e3

    waiting = [asyncio.ensure_future(one(ref)) for ref in refs]
    await asyncio.sleep(2.0)
    await asyncio.to_thread(start)  # type: ignore[arg-type]
    return list(await asyncio.gather(*waiting))


def counted(app: Tenure) -> list[int]:
    """How many statements the app's store has run since."""
    if not isinstance(app.store, SqlStore):
        raise AssertionError("it is on PostgreSQL")
    database, total = app.store.database, [0]
    execute = database.execute

    def counting(connection: object, statement: Statement) -> Rows:
        total[0] += 1
        return execute(connection, statement)

    database.execute = counting  # type: ignore[method-assign]
    return total


def open_connections(url: str) -> int:
    """Of the process that waits."""
    query = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'waiting'"
    with psycopg.connect(url) as connection:
        [[count]] = connection.execute(query).fetchall()
    return int(count)
