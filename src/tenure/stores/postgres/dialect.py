"""The psycopg driver: READ COMMITTED, prepared statements, one array per column of a batch."""

from __future__ import annotations

import select
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import psycopg
from psycopg.abc import AdaptContext
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import tuple_row
from psycopg.types.array import ListBinaryDumper
from psycopg.types.numeric import Int8BinaryDumper, Int8Dumper

from tenure.core.errors import StoreError, UnsupportedDatabase
from tenure.stores.postgres.arrays import array, literals
from tenure.stores.postgres.schema import PostgresSchema
from tenure.stores.postgres.trouble import trouble
from tenure.stores.sql.dialect import SchemaChanges, Trouble
from tenure.stores.sql.queries import Queries, to_pyformat
from tenure.stores.sql.statement import Rows, Statement

OLDEST = 15
LAST_WORD_MS = 100
PLAN_SECONDS = 1.0
BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED"

# What the URL says wins. A server that died without a word is noticed within half a minute or so.
DEFAULTS = {
    "application_name": "tenure",
    "client_encoding": "UTF8",
    "connect_timeout": 10,
    "keepalives_idle": 20,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}

# Plain inserts: there is one way to do them, however the tables grow.
READS_NOTHING = frozenset({"add_job", "add_like_jobs", "add_jobs"})


class Connection(psycopg.Connection[Any]):
    """Ours. Forgets its plans once a second.

    A plan made while the table was small reads all of it, and PostgreSQL would keep that plan
    until the next ANALYZE, while a backlog of 100,000 jobs arrives.
    """

    planned_at = 0.0

    def forget_old_plans(self) -> None:
        """Statements stay prepared; only their plans are made again."""
        if time.monotonic() - self.planned_at > PLAN_SECONDS:
            self.execute("DISCARD PLANS", prepare=False)
            self.planned_at = time.monotonic()


class PostgresDialect:
    """See `tenure.stores.sql.dialect.Dialect`."""

    name = "postgres"
    package = "tenure.stores.postgres"
    single_writer = False
    fused = False
    loose = True
    # What a URL may say behind its question mark: libpq's own words, and JDBC's `ssl`.
    options = ("ssl", *(option.keyword.decode() for option in psycopg.pq.Conninfo.get_defaults()))

    def __init__(self, url: str) -> None:
        self.url = url
        self.schema: SchemaChanges = PostgresSchema(self.connect)

    def connect(self) -> Connection:
        """Autocommit: transactions begin and end where we say so."""
        settings: dict[str, Any] = {**DEFAULTS, **conninfo_to_dict(self.url)}
        connection = Connection.connect(**settings, autocommit=True, prepare_threshold=2)
        _set_adapters(connection)
        return connection

    def listen_first(self, connection: Any) -> None:
        """Read what a restarted server sent before it closed: better now than after a statement."""
        ear = select.poll()
        ear.register(connection.pgconn.socket, select.POLLIN)
        if ear.poll(0):
            connection.pgconn.consume_input()
            if ear.poll(LAST_WORD_MS):  # it spoke unasked: a farewell is followed by the end
                connection.pgconn.consume_input()

    def begin(self, connection: Any, patience: float | None = None) -> None:
        """Name the isolation level: a server's default may be stricter and refuse usual races."""
        if patience is None:
            _run(connection, BEGIN)
        else:  # in one message, which cannot be prepared
            words = f"{BEGIN}; SET LOCAL lock_timeout = {max(1, round(patience * 1000))}"
            connection.execute(words, prepare=False)

    def ended(self, connection: Any) -> bool:
        """Never: schema changes are part of a transaction here."""
        return False

    def commit(self, connection: Any) -> None:
        """Raise if PostgreSQL answers with a rollback, as it does after a swallowed error."""
        if _run(connection, "COMMIT") == "ROLLBACK":
            raise StoreError(
                "nothing was committed: an earlier statement of this transaction had failed"
            )

    def rollback(self, connection: Any) -> None:
        """Roll back if there is something to roll back."""
        if connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            _run(connection, "ROLLBACK")

    def close(self, connection: Any) -> None:
        """Close it without raising."""
        with suppress(psycopg.Error):
            connection.close()

    def execute(self, connection: Any, queries: Queries, statement: Statement) -> Rows:
        """One statement, whatever the size of its batch."""
        query = queries.get(statement.name, statement.where)
        if isinstance(connection, Connection) and statement.name not in READS_NOTHING:
            connection.forget_old_plans()
        with _cursor(connection) as cursor:
            cursor.execute(to_pyformat(query.steps[0]), literals(self.values(statement)))
            return list(cursor.fetchall()) if _has_rows(cursor) else []

    def named(self, sql: str) -> str:
        """`%(name)s`."""
        return to_pyformat(sql)

    def values(self, statement: Statement) -> Mapping[str, Any]:
        """A batch is sent as one array per column."""
        if statement.batch is None:
            return statement.values
        columns = zip(*statement.batch.rows, strict=True)
        arrays = zip(statement.batch.columns, map(array, columns), strict=True)
        return {**statement.values, **dict(arrays)}

    def trouble(self, error: BaseException) -> Trouble:
        """By SQLSTATE."""
        return trouble(error)

    def version(self, connection: Any) -> str:
        """The server's version."""
        return f"PostgreSQL {_dotted(connection.info.server_version)}"

    def check(self, connection: Any) -> None:
        """The version, and an encoding that holds every text."""
        check_version(connection.info.server_version)
        check_encoding(connection.info.parameter_status("server_encoding"))

    def has_table(self, connection: Any, name: str) -> bool:
        """Along the search path, as the statements look for it."""
        with _cursor(connection) as cursor:
            cursor.execute("SELECT to_regclass(%s::text) IS NOT NULL", (name,))
            (found,) = cursor.fetchone()
            return bool(found)


def _cursor(connection: Any) -> Any:
    """A cursor that gives plain tuples, however the user has set up the connection."""
    if isinstance(connection, Connection):
        return connection.cursor()
    if isinstance(connection, psycopg.Connection):
        cursor = psycopg.Cursor(connection, row_factory=tuple_row)
        _set_adapters(cursor)
        return cursor
    return connection.cursor()


def _has_rows(cursor: Any) -> bool:
    """Whether the result has rows, without making psycopg describe every column."""
    result = getattr(cursor, "pgresult", None)
    return bool(cursor.description if result is None else result.nfields)


def _set_adapters(context: AdaptContext) -> None:
    """Arrays in binary, as quoting JSON in them takes longer than all the rest; and one type for
    every number, else each width would be a prepared statement of its own.
    """
    for dumper in (Int8Dumper, Int8BinaryDumper):
        context.adapters.register_dumper(int, dumper)
    context.adapters.register_dumper(list, ListBinaryDumper)


def _run(connection: Any, sql: str) -> str:
    """Run it; returns the server's command tag."""
    with _cursor(connection) as cursor:
        cursor.execute(sql)
        return str(cursor.statusmessage)


def check_version(found: int) -> None:
    """Raise UnsupportedDatabase if the server is too old; the number is libpq's, such as 150018."""
    if found < OLDEST * 10_000:
        raise UnsupportedDatabase(
            f"PostgreSQL {_dotted(found)} is too old: Tenure needs {OLDEST} or newer"
        )


def check_encoding(found: str | None) -> None:
    """Raise UnsupportedDatabase if the encoding cannot hold every text."""
    if found not in (None, "UTF8"):
        raise UnsupportedDatabase(
            f"the database's encoding is {found}: Tenure needs UTF8 "
            "(CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0)"
        )


def _dotted(version: int) -> str:
    return f"{version // 10_000}.{version % 10_000}"
