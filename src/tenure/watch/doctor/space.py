"""Checks of disk space: sizes, dead rows, old snapshots, SQLite's write-ahead log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tenure.app import Tenure
from tenure.core.errors import StoreError
from tenure.feature.finding import Finding, Level
from tenure.stores.sql.read.table_health import Snapshot, TableSize, old_snapshots, table_sizes
from tenure.stores.sql.store import sql_store
from tenure.stores.sqlite.dialect import SqliteDialect
from tenure.stores.sqlite.wal import LIMIT_BYTES
from tenure.watch.doctor.durations import ago, span
from tenure.watch.text import plural

NOTABLE_DEAD = 10_000
NOTABLE_SHARE = 0.2
NOTABLE_HISTORY = 100_000
NOTABLE_SLOT = 100_000
LONG_LOG = 4

ENDS = {
    "session": "let it end its transaction, or end it: SELECT pg_terminate_backend({holder})",
    "prepared": "COMMIT PREPARED '{holder}' or ROLLBACK PREPARED '{holder}'",
    "slot": "if it is no longer used: SELECT pg_drop_replication_slot('{holder}')",
    "thread": "let it end its transaction, or end it: KILL {holder}",
    "history": "end the oldest open transaction; the server's purge then catches up",
}


def space(engine: Tenure, snapshot_seconds: float) -> Iterator[Finding]:
    """Sizes, dead rows, and the sessions that keep them."""
    database = sql_store(engine.store).database
    sizes = table_sizes(database)
    if isinstance(database.dialect, SqliteDialect):
        yield file_size(sizes[0])
        yield log_length(database.dialect.log.bytes)
        return
    yield table_size(sizes)
    if any(size.dead is not None for size in sizes):
        yield bloat(engine, sizes)
    yield from snapshots(engine, snapshot_seconds)


def table_size(sizes: Sequence[TableSize]) -> Finding:
    """The size of all tables, and of the largest one."""
    data, indexes = sum(one.bytes for one in sizes), sum(one.index_bytes for one in sizes)
    largest = sizes[0]
    fact = (
        f"{volume(data)} of tables, {volume(indexes)} of indexes; {largest.name}: "
        f"{volume(largest.bytes)}, {volume(largest.index_bytes)} of indexes"
    )
    return Finding(Level.OK, "space", fact, figures={"tables": [one.to_dict() for one in sizes]})


def bloat(engine: Tenure, sizes: Sequence[TableSize]) -> Finding:
    """The table with the most dead rows."""
    worst = max(sizes, key=lambda one: one.dead or 0)
    dead, rows = worst.dead or 0, worst.rows or 0
    cleaned = ago(worst.cleaned_at, engine.store.now()) or "never, as far as is known"
    fact = (
        f"{worst.name}: {plural(dead, 'dead row')} beside {rows:,} live ones; vacuumed: {cleaned}"
    )
    if dead < NOTABLE_DEAD or dead < rows * NOTABLE_SHARE:
        return Finding(Level.OK, "bloat", fact)
    todo = f"end old snapshots if any are listed, then run: VACUUM (ANALYZE) {worst.name}"
    return Finding(Level.WARNING, "bloat", fact, todo)


def snapshots(engine: Tenure, old_seconds: float) -> Iterator[Finding]:
    """Sessions whose old snapshots keep dead rows, and how to end them."""
    try:
        found = old_snapshots(sql_store(engine.store).database)
    except StoreError:
        raise
    except Exception as error:  # whatever the driver calls a missing privilege
        todo = "grant this user PROCESS, or look as an administrator"
        yield Finding(
            Level.OK, "snapshots", f"the database does not say who holds any: {error}", todo
        )
        return
    figures = {"snapshots": [one.to_dict() for one in found]}
    old = [one for one in found if is_old(one, old_seconds)]
    if not old:
        yield Finding(Level.OK, "snapshots", f"none older than {span(old_seconds)}", "", figures)
    for one in old:
        todo = ENDS[one.kind].format(holder=one.holder)
        yield Finding(Level.WARNING, "snapshots", told(one), todo, figures)


def is_old(one: Snapshot, seconds: float) -> bool:
    """Whether a snapshot is old. Slots and the history list are judged by length, not age."""
    if one.kind == "history":
        return (one.transactions or 0) > NOTABLE_HISTORY
    if one.kind == "slot":
        return (one.transactions or 0) > NOTABLE_SLOT or one.doing == "not in use"
    return one.seconds is not None and one.seconds >= seconds


def told(one: Snapshot) -> str:
    """Who holds a snapshot, for people."""
    behind = "" if one.transactions is None else f", {plural(one.transactions, 'transaction')} ago"
    if one.kind == "history":
        return f"{one.transactions or 0:,} changes in InnoDB's history list wait to be purged"
    if one.kind == "slot":
        return f"replication slot {one.holder} ({one.doing}) holds a snapshot{behind}"
    return (
        f"{one.kind} {one.holder} ({one.doing}) has held a snapshot open for "
        f"{span(one.seconds or 0)}{behind}: rows deleted since then cannot be removed"
    )


def file_size(size: TableSize) -> Finding:
    """The size of a SQLite file. Free pages are reused, but not given back to the disk."""
    free = plural(size.dead or 0, "free page")
    fact = f"the file has {volume(size.bytes)}, with {free} to reuse"
    return Finding(Level.OK, "space", fact, figures={"tables": [size.to_dict()]})


def log_length(length: int) -> Finding:
    """The length of the write-ahead log. Only a reader with an old snapshot lets it grow."""
    fact, figures = f"the write-ahead log has {volume(length)}", {"wal_bytes": length}
    if length <= LONG_LOG * LIMIT_BYTES:
        return Finding(Level.OK, "log", fact, figures=figures)
    fact = f"{fact}: a program keeps a read transaction open"
    todo = "end that program; `fuser -v` on the file lists the programs that have it open"
    return Finding(Level.WARNING, "log", fact, todo, figures)


def volume(count: float) -> str:
    """Format a number of bytes."""
    for unit in ("bytes", "kB", "MB"):
        if count < 1_000:
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1_000
    return f"{count:,.1f} GB"
