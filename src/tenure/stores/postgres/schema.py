"""Schema changes that the fleet hardly notices.

Indexes are built CONCURRENTLY, outside any transaction; what a crash leaves of one is invalid, and
is built anew. Everything else wants a table for a moment: it asks for it only briefly, again and
again, because all who come after it queue behind it.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from psycopg import errors

from tenure.core.errors import StoreError
from tenure.stores.sql.dialect import MigrationStatement

MIGRATION_LOCK = 8_386_654_283_001_947_201
OTHER_MIGRATOR_SECONDS = 60.0
LOOK_SECONDS = 0.1

# The longest lasts long enough for an autovacuum to be told to make room (deadlock_timeout).
SHORTEST_WAIT_MS, LONGEST_WAIT_MS = 100, 1_500
ALTER_SECONDS = 180.0

# An index waits for every transaction that was open before it, and makes nobody wait.
OLD_TRANSACTIONS_MS = 900_000
INDEX_TRIES = 3

CREATE_INDEX = re.compile(
    r"^CREATE\s+(UNIQUE\s+)?INDEX\s+(?:CONCURRENTLY\s+)?(?:IF\s+NOT\s+EXISTS\s+)?(\w+)\s+ON\s+(\w+)",
    re.IGNORECASE,
)
DROP_INDEX = re.compile(
    r"^DROP\s+INDEX\s+(?:CONCURRENTLY\s+)?(?:IF\s+EXISTS\s+)?(\w+)$", re.IGNORECASE
)
TRY_LOCK = f"SELECT pg_try_advisory_xact_lock({MIGRATION_LOCK:d})"
INDEX = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('{}')"


class PostgresSchema:
    """See `tenure.stores.sql.dialect.SchemaChanges`."""

    atomic = True

    def __init__(self, connect: Callable[[], Any]) -> None:
        self._connect = connect

    def locked(self, connection: Any) -> AbstractContextManager[None]:
        """By a connection of its own: an index is built outside any transaction."""
        return locked(self._connect)

    def online(self, sql: str) -> str:
        """Indexes are built and dropped CONCURRENTLY."""
        return online(sql)

    def change(self, connection: Any, step: MigrationStatement) -> None:
        """No statement makes the fleet wait for long."""
        change(connection, step)


@contextmanager
def locked(connect: Callable[[], Any]) -> Iterator[None]:
    """One migrator at a time. Asking again instead of waiting: who waits in a statement has a
    snapshot, and an index in the making would wait for that.
    """
    connection = connect()
    try:
        deadline = time.monotonic() + OTHER_MIGRATOR_SECONDS
        while not _try_lock(connection):
            if time.monotonic() > deadline:
                raise StoreError(
                    f"another process has been migrating for {OTHER_MIGRATOR_SECONDS:.0f} s; "
                    "wait for its end, or try again"
                )
            time.sleep(LOOK_SECONDS)
        yield
    finally:
        connection.close()


def _try_lock(connection: Any) -> bool:
    """The transaction stays open with the lock, without a snapshot."""
    connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
    connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
    if connection.execute(TRY_LOCK).fetchone()[0]:
        return True
    connection.execute("ROLLBACK")
    return False


def online(sql: str) -> str:
    """As it runs on a database in use."""
    if made := CREATE_INDEX.match(sql):
        unique, name, table = made[1] or "", made[2], made[3]
        return f"CREATE {unique}INDEX CONCURRENTLY {name} ON {table}{sql[made.end() :]}"
    if gone := DROP_INDEX.match(sql):
        return f"DROP INDEX CONCURRENTLY IF EXISTS {gone[1]}"
    return sql


def change(connection: Any, step: MigrationStatement) -> None:
    """Run it and note it."""
    if online(step.sql) == step.sql:
        _alter(connection, step)
        return
    with _unhurried(connection):
        if made := CREATE_INDEX.match(step.sql):
            _build(connection, made[2], made[3], online(step.sql))
        else:
            connection.execute(online(step.sql))
    with connection.transaction():
        step.note()


@contextmanager
def _unhurried(connection: Any) -> Iterator[None]:
    """Whatever the server's or the role's timeouts are."""
    connection.execute(f"SET lock_timeout = {OLD_TRANSACTIONS_MS:d}")
    connection.execute("SET statement_timeout = 0")
    try:
        yield
    finally:
        connection.execute("RESET lock_timeout")
        connection.execute("RESET statement_timeout")


def _build(connection: Any, name: str, table: str, sql: str) -> None:
    """An index that is there and valid needs nothing; one that is not goes first."""
    for attempt in range(1, INDEX_TRIES + 1):
        valid = _look(connection, name, table)
        if valid:
            return
        if valid is False:
            connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
        try:
            connection.execute(sql)
        except errors.DeadlockDetected:
            if attempt == INDEX_TRIES:
                raise
        else:
            return


def _look(connection: Any, name: str, table: str) -> bool | None:
    """Whether the index is valid; None where there is none.

    The server may still be building it for a migrator that has died. The lock waits for that, and
    is in the way of vacuum and other builders only.
    """
    with connection.transaction():
        connection.execute(f"LOCK TABLE {table} IN SHARE UPDATE EXCLUSIVE MODE")
        found = connection.execute(INDEX.format(name)).fetchall()
    return next((bool(valid) for (valid,) in found), None)


def _alter(connection: Any, step: MigrationStatement) -> None:
    """Together with its note, as soon as the table is free for a moment."""
    deadline = time.monotonic() + ALTER_SECONDS
    wait = SHORTEST_WAIT_MS
    while True:
        try:
            with connection.transaction():
                connection.execute(f"SET LOCAL lock_timeout = {wait:d}")
                connection.execute(step.sql)
                step.note()
        except (errors.LockNotAvailable, errors.DeadlockDetected) as error:
            if time.monotonic() > deadline:
                raise StoreError(
                    f"a table was in use for {ALTER_SECONDS:.0f} s: a transaction on it is open; "
                    "pg_stat_activity shows whose"
                ) from error
            time.sleep(random.uniform(1, 2) * wait / 1_000)  # noqa: S311
            wait = min(wait * 2, LONGEST_WAIT_MS)
        else:
            return
