"""The checks of `tenure doctor`. Each yields findings: a fact, and what to do next."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple
from urllib.parse import quote

from tenure.app import Tenure
from tenure.core.errors import OptionError, UnsupportedDatabase
from tenure.core.filter import JobFilter
from tenure.core.job import DEAD_LETTERS
from tenure.feature import Feature, FeatureError, Finding, Level, read_settings
from tenure.feature.finding import Remedy
from tenure.operations.insight import WORKERS
from tenure.stores.contract import Capability
from tenure.stores.contract.endings import FOLLOWED_KINDS
from tenure.stores.contract.parts import Depth, every
from tenure.stores.contract.reading import Count, Precision
from tenure.stores.sql.closed_database import explain, read_mark
from tenure.stores.sql.migrations import MigrationOutOfOrder, Migrations
from tenure.stores.sql.store import sql_store
from tenure.watch.doctor.durations import span
from tenure.watch.doctor.space import space
from tenure.watch.text import plural

STUCK_GRACE_SECONDS = 15.0
HELD_AT_ONCE = 5_000
HELD_LOOKS = 20
NAMED_KEYS = 5


def examine(
    engine: Tenure, version: str, clock_seconds: float, snapshot_seconds: float
) -> Iterator[Finding]:
    """Run all checks. With the wrong schema, only those that need none."""
    yield from database(engine, version)
    try:
        engine.features.load()  # before the schema is looked at: their tables belong to it
    except FeatureError as error:
        yield Finding(Level.PROBLEM, "features", str(error), "repair or uninstall it")
        return
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
    yield from followed(engine)
    yield paused(engine)
    yield dead_letters(engine)
    yield from features(engine)
    yield from space(engine, snapshot_seconds)


def database(engine: Tenure, version: str) -> Iterator[Finding]:
    """The version of the database, and known problems of it."""
    yield Finding(Level.OK, "database", version)
    store = sql_store(engine.store)
    try:
        with store.database.raw_connection() as connection:
            store.database.dialect.check(connection)
    except UnsupportedDatabase as error:
        yield Finding(Level.PROBLEM, "database", str(error), "upgrade the database")
    if store.database.dialect.name == "sqlite":
        yield from wal_reset(sqlite3.sqlite_version_info)


def wal_reset(found: tuple[int, ...]) -> Iterator[Finding]:
    """Warn about a SQLite bug that can lose a commit."""
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
    """Whether the tables fit this code."""
    store = sql_store(engine.store)
    with store.database.raw_connection() as connection:
        mark = read_mark(store.database, connection)
        if mark is not None:
            return Finding(Level.PROBLEM, "schema", *explain(mark))
        for migrations in store.schemas:
            if (wrong := unfit(migrations, connection)) is not None:
                return wrong
        have, _ = store.migrations.status(connection)
    return Finding(Level.OK, "schema", f"version {have}, nothing pending")


def unfit(migrations: Migrations, connection: Any) -> Finding | None:
    """What is wrong with the tables of the engine or of one feature."""
    have, serves = migrations.status(connection)
    whose = f"tables of {migrations.feature}: " if migrations.feature else ""
    if migrations.latest < serves:
        fact = f"serves code of schema version {serves} and newer; this code is at "
        todo = f"upgrade {migrations.feature or 'tenure'} in this program"
        return Finding(Level.PROBLEM, "schema", f"{whose}{fact}{migrations.latest}", todo)
    try:
        migrations.check_order(connection)
    except MigrationOutOfOrder as error:
        todo = f"rename the file, or install a {migrations.feature or 'tenure'} that has done so"
        return Finding(Level.PROBLEM, "schema", str(error), todo)
    if have < migrations.latest:
        pending = ", ".join(f"{one.version:04d}_{one.name}" for one in migrations.pending())
        fact = f"version {have}, and this code needs {migrations.latest}; pending: {pending}"
        return Finding(Level.PROBLEM, "schema", f"{whose}{fact}", "run: tenure migrate")
    return None


def clock(engine: Tenure, allowed: float) -> Finding:
    """How far the clocks are apart. Leases use the database's clock, logs this machine's."""
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
    return Finding(
        Level.WARNING, "workers", f"{fact}, {len(silent)} silent: {named}", todo,
        remedies=[Remedy(label="Show workers", screen="/workers")],
    )  # fmt: skip


def wake_ups(engine: Tenure) -> Finding:
    """Workers that are woken for new jobs; the others poll."""
    if Capability.WAKE_UPS not in engine.store.capabilities:
        return Finding(Level.OK, "wake-ups", "within a process; between processes by polling")
    deaf = [one.id for one in engine.insight.workers() if one.alive and not one.listening]
    if not deaf:
        return Finding(Level.OK, "wake-ups", "every live worker listens")
    fact = f"not listening, so they find jobs by polling: {', '.join(deaf)}"
    todo = "a worker that just started listens soon; behind a pooler set TENURE_LISTEN_URL"
    remedies = [Remedy(label="Show workers", screen="/workers")]
    return Finding(Level.WARNING, "wake-ups", fact, todo, remedies=remedies)


def stuck(engine: Tenure) -> Finding:
    """Running jobs whose lease ended, and which no worker has claimed again."""
    count = engine.insight.overdue(STUCK_GRACE_SECONDS)
    if not count:
        return Finding(Level.OK, "stuck jobs", "none")
    fact = f"{plural(count, 'job')} with a lease that ran out and that no worker took up"
    todo = "start a worker for their queues and kinds: tenure jobs list --state running"
    remedies = [
        Remedy(label="Show running jobs", screen="/jobs?q=state:running"),
        Remedy(label="Show workers", screen="/workers"),
    ]
    return Finding(Level.PROBLEM, "stuck jobs", fact, todo, remedies=remedies)


def stopped_keys(engine: Tenure) -> Finding:
    """Ordering keys whose jobs wait with nobody ahead of them."""
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


def followed(engine: Tenure) -> Iterator[Finding]:
    """Kinds whose endings features follow that no live worker has."""
    records = engine.store.records
    alive = {one.id for one in engine.insight.workers() if one.alive}
    present = {
        name
        for one in every(records, WORKERS)
        if one.name in alive
        for name in one.data.get("features", ())
    }
    for kind in every(records, FOLLOWED_KINDS) if alive else ():
        if missing := sorted(set(kind.data["features"]) - present):
            named = " and ".join(map(repr, missing))
            fact = f"{kind.name!r} jobs cannot end: no live worker has the feature {named}"
            todo = "start a worker whose app includes it"
            yield Finding(Level.WARNING, "endings", fact, todo)


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
            remedies=list(_orphan_remedies(depth)),
        )


def _orphan_remedies(depth: Depth) -> Iterator[Remedy]:
    words = f'state:queued kind:"{depth.kind}" queue:"{depth.queue}"'
    yield Remedy(label="Show them", screen=f"/jobs?q={quote(words)}")
    body = {"kind": [depth.kind], "queue": [depth.queue], "state": ["queued"]}
    label = f"Cancel {plural(depth.jobs, 'job')}"
    yield Remedy(label=label, method="POST", path="/api/jobs/cancel", body=body, danger=True)


class PausedQueue(NamedTuple):
    """A queue and its waiting jobs, counted up to a bound."""

    name: str
    queued: int


def paused(engine: Tenure) -> Finding:
    """Paused queues."""
    loads = {load.queue: load.queued for load in engine.insight.loads()}
    found = [
        PausedQueue(one.name, loads.get(one.name, 0))
        for one in engine.store.queues.list()
        if one.paused
    ]
    if not found:
        return Finding(Level.OK, "queues", "none is paused")
    named = ", ".join(f"{queue.name} ({queue.queued:,} waiting)" for queue in found)
    todo = f"resume it: tenure queues resume {found[0].name}"
    remedies = [
        Remedy(label=f"Resume {one.name}", method="POST", path=_resume_path(one.name))
        for one in found
    ]
    return Finding(Level.WARNING, "queues", f"paused: {named}", todo, remedies=remedies)


def _resume_path(queue: str) -> str:
    return f"/api/queues/{quote(queue)}/resume"


def features(engine: Tenure) -> Iterator[Finding]:
    """The features in use: their settings, and the checks that they bring."""
    found = list(engine.features)
    named = ", ".join(sorted(feature.name for feature in found))
    yield Finding(Level.OK, "features", named or "none")
    for feature in found:
        yield from wrong_settings(feature)
        yield from feature_checks(feature)


def feature_checks(feature: Feature) -> Iterator[Finding]:
    """The feature's own checks. One that raises is a finding, and does not hide the others."""
    try:
        yield from feature.checks()
    except Exception as error:
        fact = f"its checks failed: {type(error).__name__}: {error}"
        yield Finding(Level.PROBLEM, feature.name, fact, "mend the feature, or leave it out")


def wrong_settings(feature: Feature) -> Iterator[Finding]:
    """Environment variables with values that a feature refuses."""
    for settings in feature.settings_classes:
        try:
            read_settings(settings)
        except OptionError as error:
            yield Finding(Level.PROBLEM, feature.name, str(error), "correct the variable")


def dead_letters(engine: Tenure) -> Finding:
    """Failed and dead jobs."""
    counts = engine.store.jobs.tally(JobFilter(states=DEAD_LETTERS)).states
    failed, dead = (counts.get(state, Count(0)) for state in DEAD_LETTERS)
    if not failed.jobs + dead.jobs:
        return Finding(Level.OK, "dead letters", "none")
    todo = "tenure jobs list --state dead --state failed; then tenure jobs replay with a filter"
    remedies = [
        Remedy(label="Show error groups", screen="/failures"),
        Remedy(label="Show failed jobs", screen="/jobs?q=state:bad"),
    ]
    more = "" if failed.precision is Precision.EXACT else "at least "
    fact = f"{more}{failed.jobs:,} failed, {dead.jobs:,} dead"
    return Finding(Level.WARNING, "dead letters", fact, todo, remedies=remedies)
