"""What the doctor says about space: sizes, dead rows, old snapshots, SQLite's log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tenure.app import Tenure
from tenure.cli.kit.durations import ago, plural, span
from tenure.cli.kit.engines import sql_store
from tenure.core.errors import StoreError
from tenure.feature.finding import Finding, Level
from tenure.stores.sql.read.table_health import Snapshot, TableSize, old_snapshots, table_sizes
from tenure.stores.sqlite.dialect import SqliteDialect
from tenure.stores.sqlite.wal import LIMIT_BYTES

NOTABLE_DEAD = 10_000
NOTABLE_SHARE = 0.2
NOTABLE_HISTORY = 100_000
NOTABLE_SLOT = 100_000
LONG_LOG = 4

ENDS = {
    "session": "let it end its transaction, or end it: SELECT pg_terminate_backend({holder})",
    "prepared": "COMMIT PREPARED '{holder}' or ROLLBACK PREPARED '{holder}'",
    "slot": "where nobody reads it any more: SELECT pg_drop_replication_slot('{holder}')",
    "thread": "let it end its transaction, or end it: KILL {holder}",
    "history": "look for a transaction that stays open, and let the server's purge catch up",
}


def space(engine: Tenure, snapshot_seconds: float) -> Iterator[Finding]:
    """How large, how much of it is dead, and who keeps it."""
    database = sql_store(engine).database
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
    """All tables together, and the largest."""
    data, indexes = sum(one.bytes for one in sizes), sum(one.index_bytes for one in sizes)
    largest = sizes[0]
    fact = (
        f"{volume(data)} of tables, {volume(indexes)} of indexes; {largest.name}: "
        f"{volume(largest.bytes)}, {volume(largest.index_bytes)} of indexes"
    )
    return Finding(Level.OK, "space", fact, figures={"tables": [one.to_dict() for one in sizes]})


def bloat(engine: Tenure, sizes: Sequence[TableSize]) -> Finding:
    """Rows that are gone but not yet cleaned away: the table with most of them."""
    worst = max(sizes, key=lambda one: one.dead or 0)
    dead, rows = worst.dead or 0, worst.rows or 0
    cleaned = ago(worst.cleaned_at, engine.store.now()) or "never, as far as is known"
    fact = (
        f"{worst.name}: {plural(dead, 'dead row')} beside {rows:,} live ones; vacuumed: {cleaned}"
    )
    if dead < NOTABLE_DEAD or dead < rows * NOTABLE_SHARE:
        return Finding(Level.OK, "bloat", fact)
    todo = f"end old snapshots first, where some are shown; then: VACUUM (ANALYZE) {worst.name}"
    return Finding(Level.WARNING, "bloat", fact, todo)


def snapshots(engine: Tenure, old_seconds: float) -> Iterator[Finding]:
    """Who keeps dead rows from being removed, and how to end that."""
    try:
        found = old_snapshots(sql_store(engine).database)
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
    """A slot and the history have no age, but a length."""
    if one.kind == "history":
        return (one.transactions or 0) > NOTABLE_HISTORY
    if one.kind == "slot":
        return (one.transactions or 0) > NOTABLE_SLOT or one.doing == "not in use"
    return one.seconds is not None and one.seconds >= seconds


def told(one: Snapshot) -> str:
    """Who holds it, and what that means."""
    behind = "" if one.transactions is None else f", {plural(one.transactions, 'transaction')} ago"
    if one.kind == "history":
        return f"{one.transactions or 0:,} changes wait in InnoDB's history list to be purged"
    if one.kind == "slot":
        return f"replication slot {one.holder} ({one.doing}) holds a snapshot{behind}"
    return (
        f"{one.kind} {one.holder} ({one.doing}) has held a snapshot open for "
        f"{span(one.seconds or 0)}{behind}: no row that is gone since can be cleaned away"
    )


def file_size(size: TableSize) -> Finding:
    """SQLite gives free pages to new rows, and never back to the disk by itself."""
    free = plural(size.dead or 0, "free page")
    fact = f"the file has {volume(size.bytes)}, with {free} to be used again"
    return Finding(Level.OK, "space", fact, figures={"tables": [size.to_dict()]})


def log_length(length: int) -> Finding:
    """It is copied back past the limit, unless a reader holds an old snapshot."""
    fact, figures = f"the write-ahead log has {volume(length)}", {"wal_bytes": length}
    if length <= LONG_LOG * LIMIT_BYTES:
        return Finding(Level.OK, "log", fact, figures=figures)
    fact = f"{fact}: somebody keeps a transaction open that reads an old snapshot"
    todo = "end the program that does; `fuser -v` on the file shows who has it open"
    return Finding(Level.WARNING, "log", fact, todo, figures)


def volume(count: float) -> str:
    """Bytes as people say them."""
    for unit in ("bytes", "kB", "MB"):
        if count < 1_000:
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1_000
    return f"{count:,.1f} GB"
