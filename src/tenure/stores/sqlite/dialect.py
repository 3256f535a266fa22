"""The sqlite3 driver: WAL, synchronous=FULL, every writing transaction begins IMMEDIATE."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from tenure.core.errors import StoreError, UnsupportedDatabase
from tenure.stores.sql.dialect import SchemaChanges, Trouble
from tenure.stores.sql.queries import Queries
from tenure.stores.sql.statement import Rows, Statement
from tenure.stores.sqlite import wal
from tenure.stores.sqlite.schema import SqliteSchema
from tenure.stores.sqlite.trouble import trouble
from tenure.stores.sqlite.writer_gate import WriterGate, writer_gate

BUSY_SECONDS = 30.0
ANSWER = "RETURNING"
OLDEST = (3, 38, 0)
WAL_RESET_FIXED = (3, 51, 3)


class Connection(sqlite3.Connection):
    """Knows whether it holds the writers' gate."""

    gate: WriterGate | None = None


class SqliteDialect:
    """See `tenure.stores.sql.dialect.Dialect`."""

    name = "sqlite"
    package = "tenure.stores.sqlite"
    single_writer = True
    fused = True
    loose = False

    def __init__(self, path: str) -> None:
        self.path = path
        self.log = wal.Log(path)
        self.schema: SchemaChanges = SqliteSchema(self)

    def connect(self) -> Connection:
        """A connection in WAL mode, which needs a real file on a local disk."""
        try:
            connection = sqlite3.connect(
                self.path,
                timeout=BUSY_SECONDS,
                isolation_level=None,
                check_same_thread=False,
                cached_statements=256,
                factory=Connection,
            )
            _patiently(connection, "PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            for setting in wal.SETTINGS:
                connection.execute(setting)
        except sqlite3.DatabaseError as error:
            raise StoreError(
                f"cannot open the SQLite file {self.path!r}: {error}; "
                "is the folder there and writable, and the file a database?"
            ) from error
        return connection

    def listen_first(self, connection: Any) -> None:
        """Nothing to do: a file does not hang up."""

    def begin(self, connection: Any, patience: float | None = None) -> None:
        """IMMEDIATE, because a reader that becomes a writer fails at once, whatever the timeout."""
        if isinstance(connection, Connection):
            gate = writer_gate(self.path, BUSY_SECONDS)
            gate.enter()
            connection.gate = gate
        try:
            connection.execute("BEGIN IMMEDIATE")
        except BaseException:
            _leave_gate(connection)
            raise

    def ended(self, connection: Any) -> bool:
        """Never: schema changes are part of a transaction here."""
        return False

    def commit(self, connection: Any) -> None:
        """Commit, shorten the log if it is long, then let the next writer in."""
        connection.execute("COMMIT")
        try:
            if isinstance(connection, Connection):
                self.log.relieve(connection, BUSY_SECONDS)
        finally:
            _leave_gate(connection)

    def rollback(self, connection: Any) -> None:
        """Roll back, and let the next writer in whatever happens."""
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        finally:
            _leave_gate(connection)

    def close(self, connection: Any) -> None:
        """Close it without raising."""
        _leave_gate(connection)
        with suppress(sqlite3.Error):
            connection.close()

    def execute(self, connection: Any, queries: Queries, statement: Statement) -> Rows:
        """One statement; once per row of the batch where the query says so."""
        query = queries.get(statement.name, statement.where)
        cursor = connection.cursor()
        cursor.row_factory = None
        if query.counted:
            ids = statement.values["ids"]
            return _counted(connection, cursor, query.steps[0], self.values(statement), ids)
        if query.each and statement.batch is not None:
            shared = self.values(Statement(statement.name, statement.values))
            found: Rows = []
            for own in statement.batch.each(found):
                found += cursor.execute(query.steps[0], {**shared, **own}).fetchall()
            return found
        return list(cursor.execute(query.steps[0], self.values(statement)).fetchall())

    def named(self, sql: str) -> str:
        """Unchanged: SQLite knows `:name` itself."""
        return sql

    def values(self, statement: Statement) -> Mapping[str, Any]:
        """Lists and batches are sent as JSON text."""
        values = {
            name: json.dumps(value) if isinstance(value, list) else value
            for name, value in statement.values.items()
        }
        if statement.batch is not None:
            values["rows"] = json.dumps(statement.batch.rows)
        return values

    def trouble(self, error: BaseException) -> Trouble:
        """By result code."""
        return trouble(error)

    def version(self, connection: Any) -> str:
        """The library's version."""
        return f"SQLite {sqlite3.sqlite_version}"

    def check(self, connection: Any) -> None:
        """UPDATE ... RETURNING and the JSON arrow are needed."""
        check_version(sqlite3.sqlite_version_info)

    def has_table(self, connection: Any, name: str) -> bool:
        """From the file's own catalogue."""
        sql = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
        return connection.execute(sql, (name,)).fetchone() is not None


def _leave_gate(connection: Any) -> None:
    held: WriterGate | None = getattr(connection, "gate", None)
    if held is not None:
        connection.gate = None
        held.leave()


def _counted(
    connection: Any, cursor: Any, sql: str, values: Mapping[str, Any], ids: list[int]
) -> Rows:
    """Change rows by id without reading the ids back, which would take longer than the change.

    If the number of changed rows leaves a doubt, it is undone and made again with RETURNING.
    """
    if isinstance(connection, Connection):  # a user's own connection may be set up in any way
        cursor.execute("SAVEPOINT counted")
        changed = cursor.execute(sql.partition(ANSWER)[0], values).rowcount
        if changed != len(ids):
            cursor.execute("ROLLBACK TO counted")
        cursor.execute("RELEASE counted")
        if changed == len(ids):
            return [(number,) for number in ids]
    return list(cursor.execute(sql, values).fetchall())


def _patiently(connection: Connection, sql: str) -> None:
    """Repeat a statement that ignores the busy timeout, as two processes may open a new file."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute(sql)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def check_version(found: tuple[int, ...]) -> None:
    """Raise UnsupportedDatabase if the library is too old."""
    if found < OLDEST:
        raise UnsupportedDatabase(
            f"SQLite {'.'.join(map(str, found))} is too old: Tenure needs 3.38 or newer"
        )
