"""What the doctor looks at. Each check gives findings: a fact, and what to do next."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime

from tenure.app import Tenure
from tenure.cli.doctor.findings import Finding, Level
from tenure.cli.doctor.space import space
from tenure.cli.kit.durations import plural, span
from tenure.cli.kit.engines import sql_store
from tenure.core.errors import UnsupportedDatabase
from tenure.core.filter import JobFilter
from tenure.core.job import DEAD_LETTERS, State
from tenure.stores.contract import Capability
from tenure.stores.sql.closed_database import explain, read_mark

STUCK_GRACE_SECONDS = 15.0
HELD_AT_ONCE = 5_000
HELD_LOOKS = 20
NAMED_KEYS = 5


def examine(
    engine: Tenure, version: str, clock_seconds: float, snapshot_seconds: float
) -> Iterator[Finding]:
    """Everything; without the right schema only what needs none."""
    yield from database(engine, version)
    schema_finding = schema(engine)
    yield schema_finding
    if schema_finding.level is Level.PROBLEM:
        return
    yield clock(engine, clock_seconds)
    yield workers(engine)
    yield wake_ups(engine)
    yield stuck(engine)
    yield stopped_keys(engine)
    yield from orphans(engine)
    yield paused(engine)
    yield schedules(engine)
    yield dead_letters(engine)
    yield from space(engine, snapshot_seconds)


def database(engine: Tenure, version: str) -> Iterator[Finding]:
    """Its version, and what is known about it."""
    yield Finding(Level.OK, "database", version)
    store = sql_store(engine)
    try:
        with store.database.raw_connection() as connection:
            store.database.dialect.check(connection)
    except UnsupportedDatabase as error:
        yield Finding(Level.PROBLEM, "database", str(error), "upgrade the database")
    if store.database.dialect.name == "sqlite":
        yield from wal_reset(sqlite3.sqlite_version_info)


def wal_reset(found: tuple[int, ...]) -> Iterator[Finding]:
    """A bug of SQLite that can lose a commit."""
    from tenure.stores.sqlite.dialect import WAL_RESET_FIXED

    fixed = ".".join(map(str, WAL_RESET_FIXED))
    if found < WAL_RESET_FIXED:
        yield Finding(
            Level.WARNING,
            "sqlite",
            f"versions before {fixed} have the WAL-reset bug: a commit during a checkpoint can, "
            "very rarely, damage the file; Tenure's connections never do both at once, yours may",
            f"use a Python with SQLite {fixed} or newer, or set PRAGMA wal_autocheckpoint = 0 on "
            "your own connections to this file",
        )


def schema(engine: Tenure) -> Finding:
    """Whether this code and the tables fit."""
    migrations, database = sql_store(engine).migrations, sql_store(engine).database
    with database.raw_connection() as connection:
        have, serves = migrations.status(connection)
        mark = read_mark(database, connection)
    if mark is not None:
        return Finding(Level.PROBLEM, "schema", *explain(mark))
    if migrations.latest < serves:
        fact = f"serves code of schema version {serves} and newer; this code is at "
        todo = "upgrade tenure in this program"
        return Finding(Level.PROBLEM, "schema", f"{fact}{migrations.latest}", todo)
    if have < migrations.latest:
        pending = ", ".join(f"{one.version:04d}_{one.name}" for one in migrations.pending())
        fact = f"version {have}, and this code needs {migrations.latest}; pending: {pending}"
        return Finding(Level.PROBLEM, "schema", fact, "run: tenure migrate")
    return Finding(Level.OK, "schema", f"version {have}, nothing pending")


def clock(engine: Tenure, allowed: float) -> Finding:
    """Leases go by the store's clock; logs and people go by this machine's."""
    before = datetime.now(UTC)
    theirs = engine.store.now()
    offset = (theirs - before - (datetime.now(UTC) - before) / 2).total_seconds()
    if abs(offset) <= allowed:
        return Finding(Level.OK, "clock", f"{abs(offset):.3f} s from the database's")
    side = "ahead of" if offset > 0 else "behind"
    fact = f"the database's clock is {abs(offset):.1f} s {side} this machine's"
    return Finding(Level.PROBLEM, "clock", fact, "set both machines by NTP")


def workers(engine: Tenure) -> Finding:
    """Workers that are alive, and those that stopped reporting."""
    found = engine.insight.workers()
    silent = [worker for worker in found if not worker.alive]
    fact = f"{len(found) - len(silent)} alive"
    if not silent:
        return Finding(Level.OK, "workers", fact)
    now = engine.store.now()
    named = ", ".join(
        f"{worker.id} (for {span((now - worker.seen_at).total_seconds())})" for worker in silent
    )
    todo = "find out why they stopped; their jobs run on other workers when the leases end"
    return Finding(Level.WARNING, "workers", f"{fact}, {len(silent)} silent: {named}", todo)


def wake_ups(engine: Tenure) -> Finding:
    """Workers that are woken for new jobs; the others poll."""
    if Capability.WAKE_UPS not in engine.store.capabilities:
        return Finding(Level.OK, "wake-ups", "within a process; between processes by polling")
    deaf = [one.id for one in engine.insight.workers() if one.alive and not one.listening]
    if not deaf:
        return Finding(Level.OK, "wake-ups", "every live worker listens")
    fact = f"not listening, so they find jobs by polling: {', '.join(deaf)}"
    todo = "a worker that just started listens soon; behind a pooler set TENURE_LISTEN_URL"
    return Finding(Level.WARNING, "wake-ups", fact, todo)


def stuck(engine: Tenure) -> Finding:
    """Running jobs whose lease ended, and which no worker has claimed again."""
    count = engine.insight.overdue(STUCK_GRACE_SECONDS)
    if not count:
        return Finding(Level.OK, "stuck jobs", "none")
    fact = f"{plural(count, 'job')} with a lease that ran out and that no worker took up"
    todo = "start a worker for their queues and kinds: tenure jobs list --state running"
    return Finding(Level.PROBLEM, "stuck jobs", fact, todo)


def stopped_keys(engine: Tenure) -> Finding:
    """Jobs of an ordering key that wait while nobody is ahead of them."""
    found: list[str] = []
    after: str | None = None
    for _ in range(HELD_LOOKS):
        part = engine.store.orders.stopped(HELD_AT_ONCE, after)
        found += [
            f"{key!r} of tenant {tenant!r}" if tenant else repr(key) for tenant, key in part.orders
        ]
        after = part.next
        if after is None:
            break
    if not found:
        return Finding(Level.OK, "ordering keys", "none has stopped")
    named = ", ".join(sorted(set(found))[:NAMED_KEYS]) + (
        ", ..." if len(found) > NAMED_KEYS else ""
    )
    fact = f"{plural(len(set(found)), 'key')} with waiting jobs and nobody ahead of them: {named}"
    todo = "a worker's pruning releases them within two minutes; without a worker: tenure tick"
    return Finding(Level.WARNING, "ordering keys", fact, todo)


def orphans(engine: Tenure) -> Iterator[Finding]:
    """Queued jobs that no live worker takes from their queue."""
    found = engine.insight.orphans()
    if not found:
        yield Finding(Level.OK, "kinds", "a live worker takes every queued kind from its queue")
    for depth in found:
        waits = f"{plural(depth.jobs, 'job')} {'waits' if depth.jobs == 1 else 'wait'}"
        yield Finding(
            Level.PROBLEM,
            "kinds",
            f"{waits}: no live worker takes kind {depth.kind!r} from queue {depth.queue!r}",
            f"start one: tenure worker --app MODULE:OBJECT --queue {depth.queue}, "
            f"or: tenure jobs cancel --kind {depth.kind} --queue {depth.queue}",
        )


def paused(engine: Tenure) -> Finding:
    """Paused queues."""
    found = [queue for queue in engine.insight.queues() if queue.paused]
    if not found:
        return Finding(Level.OK, "queues", "none is paused")
    named = ", ".join(f"{queue.name} ({queue.queued:,} waiting)" for queue in found)
    todo = f"resume it: tenure queues resume {found[0].name}"
    return Finding(Level.WARNING, "queues", f"paused: {named}", todo)


def schedules(engine: Tenure) -> Finding:
    """Slots that are over and that nobody has fired."""
    now = engine.store.now()
    active = [row for row in engine.schedules.list() if row.active]
    waits = {row.name: (now - row.next_at).total_seconds() for row in active}
    late = {name: wait for name, wait in waits.items() if wait > STUCK_GRACE_SECONDS}
    if not late:
        return Finding(Level.OK, "schedules", f"{len(active)} active, none late")
    named = ", ".join(f"{name} (for {span(wait)})" for name, wait in late.items())
    todo = "start a worker; where WORKER_TICK_RUNNERS is set it must name schedules"
    return Finding(Level.WARNING, "schedules", f"not fired in time: {named}", todo)


def dead_letters(engine: Tenure) -> Finding:
    """Failed and dead jobs."""
    counts = engine.insight.counts(JobFilter(states=DEAD_LETTERS))
    if not any(counts.values()):
        return Finding(Level.OK, "dead letters", "none")
    failed, dead = counts.get(State.FAILED, 0), counts.get(State.DEAD, 0)
    todo = "tenure jobs list --state dead --state failed; then tenure jobs replay with a filter"
    return Finding(Level.WARNING, "dead letters", f"{failed:,} failed, {dead:,} dead", todo)
