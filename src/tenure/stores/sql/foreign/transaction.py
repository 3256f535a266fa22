"""Runs a plan in the transaction it is given: ours, or one on the caller's own connection.

`adopt` finds the driver's connection inside what the caller holds (a SQLAlchemy session, Django's
connection, a plain driver connection) and a small executor for it. Commit stays the caller's.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar

from tenure.core.errors import NeedsImmediate, OptionError
from tenure.stores.sql.database import Database
from tenure.stores.sql.queries import to_numbered, to_pyformat
from tenure.stores.sql.statement import (
    AsyncExecutor,
    Executor,
    Plan,
    Rows,
    Statement,
    drive,
    drive_async,
)
from tenure.stores.sql.transaction import Transaction

T = TypeVar("T")
DRIVERS = {"sqlite": ("sqlite3",), "postgres": ("psycopg", "psycopg2"), "mysql": ("pymysql",)}
SQLITE_BUSY_SNAPSHOT = 517


def run_in(database: Database, tx: Any, plan: Callable[[], Plan[T]]) -> T:
    """In `tx` where one is given, else in a transaction of its own."""
    if tx is None:
        return database.run(plan)
    with adopt(database, tx) as executor:
        return drive(plan(), executor)


async def run_in_async(database: Database, tx: Any, plan: Callable[[], Plan[T]]) -> T:
    """In the caller's async (or plain) connection."""
    async with adopt_async(database, tx) as executor:
        return await drive_async(plan(), executor)


def is_async(tx: Any) -> bool:
    """Whether this connection or session must be awaited."""
    kind = type(tx)
    return library(tx) == "asyncpg" or kind.__name__.startswith("Async")


def library(tx: Any) -> str:
    """The package that made this object."""
    return type(tx).__module__.partition(".")[0]


@contextmanager
def adopt(database: Database, tx: Any) -> Iterator[Executor]:
    """An executor on the connection inside `tx`."""
    if isinstance(tx, Transaction):
        yield _own(database, tx)
        return
    if is_async(tx):
        raise OptionError(f"{type(tx).__name__} is asynchronous: await enqueue_async(..., tx=...)")
    connection = _driver_connection(tx)
    _check_driver(database, connection)
    if database.before_adopting is not None:
        database.before_adopting(connection, _inside_transaction(connection))
    executor = Transaction(database, connection)
    alone = _outside_transaction(connection)
    if alone:
        database.dialect.begin(connection)
    try:
        yield executor
    except BaseException as error:
        if alone:
            database.dialect.rollback(connection)
        if getattr(error, "sqlite_errorcode", None) == SQLITE_BUSY_SNAPSHOT:
            raise NeedsImmediate from error
        raise
    finally:
        executor.end()
    if alone:
        database.dialect.commit(connection)


def _own(database: Database, tx: Transaction) -> Transaction:
    """A transaction of ours, while it is open."""
    if tx.database is not database:
        raise OptionError("tx belongs to another database than these jobs")
    tx.connection  # noqa: B018 - raises where it has ended
    return tx


def _driver_connection(tx: Any) -> Any:
    match library(tx):
        case "sqlalchemy":
            return _from_sqlalchemy(tx)
        case "django" if hasattr(tx, "ensure_connection"):
            tx.ensure_connection()
            return tx.connection
        case _:
            return tx


def _from_sqlalchemy(tx: Any) -> Any:
    if not hasattr(tx, "exec_driver_sql") and not hasattr(tx, "connection"):
        return tx
    connection = tx if hasattr(tx, "exec_driver_sql") else tx.connection()
    if not connection.in_transaction():
        connection.begin()  # so that the caller's commit() knows there is something to commit
    return connection.connection.dbapi_connection


def _check_driver(database: Database, connection: Any) -> None:
    """A connection to another database would put the job where no worker looks."""
    kind = f"{type(connection).__module__}.{type(connection).__name__}"
    names = {kind.__module__.partition(".")[0] for kind in type(connection).__mro__}
    if names.isdisjoint(DRIVERS[database.dialect.name]):
        raise OptionError(
            f"tx is a {kind}, but the jobs are in {database.dialect.name}: "
            "pass a connection to that database"
        )
    if not (hasattr(connection, "cursor") and hasattr(connection, "commit")):
        raise OptionError(f"tx is a {kind}: pass the connection itself")


def _outside_transaction(connection: Any) -> bool:
    """In autocommit mode our statements still belong together."""
    match library(connection):
        case "sqlite3":
            return connection.isolation_level is None and not connection.in_transaction
        case "psycopg":
            return bool(connection.autocommit) and connection.info.transaction_status.name == "IDLE"
        case "pymysql":
            return bool(connection.get_autocommit()) and not connection.server_status & 1
        case _:
            return False


def _inside_transaction(connection: Any) -> bool:
    """Whether statements of the caller's are open on it, or a snapshot."""
    match library(connection):
        case "asyncpg":
            return bool(connection.is_in_transaction())
        case "psycopg":
            return bool(connection.info.transaction_status.name != "IDLE")
        case "psycopg2":
            return bool(connection.info.transaction_status)
        case "pymysql":
            return bool(connection.server_status & 1)
        case "sqlalchemy":
            return bool(connection.in_transaction())
        case _:
            return bool(getattr(connection, "in_transaction", True))


def committed_at_once(connection: Any) -> bool:
    """Whether what was run on it just now was a transaction of its own, and is over."""
    if library(connection) == "asyncpg":
        return not connection.is_in_transaction()
    return _outside_transaction(connection)


@asynccontextmanager
async def adopt_async(database: Database, tx: Any) -> AsyncIterator[AsyncExecutor]:
    """An executor on an async connection; a plain one is used as it is."""
    if database.before_adopting is not None and is_async(tx):
        _check_async(database)
        await asyncio.to_thread(database.before_adopting, tx, _inside_transaction(tx))
    match library(tx):
        case "asyncpg":
            async with _asyncpg_transaction(tx):
                yield AsyncpgExecutor(database, tx)
        case "psycopg" if is_async(tx):
            async with _psycopg_transaction(tx):
                yield PsycopgAsyncExecutor(database, tx)
        case "sqlalchemy" if is_async(tx):
            connection = await tx.connection() if hasattr(tx, "flush") else tx
            yield SqlalchemyAsyncExecutor(database, connection)
        case _:
            with adopt(database, tx) as executor:
                yield PlainExecutor(executor)


@asynccontextmanager
async def _asyncpg_transaction(connection: Any) -> AsyncIterator[None]:
    if connection.is_in_transaction():
        yield
        return
    async with connection.transaction():
        yield


@asynccontextmanager
async def _psycopg_transaction(connection: Any) -> AsyncIterator[None]:
    if not _outside_transaction(connection):
        yield
        return
    async with connection.transaction():
        yield


class AsyncpgExecutor:
    """asyncpg: numbered parameters, arrays as lists."""

    def __init__(self, database: Database, connection: Any) -> None:
        _check_async(database)
        self._database, self._connection = database, connection

    async def run(self, statement: Statement) -> Rows:
        """One statement."""
        sql, values = compiled(self._database, statement)
        text, names = to_numbered(sql)
        found = await self._connection.fetch(text, *(values[name] for name in names))
        return [tuple(row) for row in found]

    async def execute(self, sql: str) -> None:
        """Words without values."""
        await self._connection.execute(sql)


class PsycopgAsyncExecutor:
    """psycopg's AsyncConnection."""

    def __init__(self, database: Database, connection: Any) -> None:
        _check_async(database)
        self._database, self._connection = database, connection

    async def run(self, statement: Statement) -> Rows:
        """One statement."""
        from psycopg.rows import tuple_row

        sql, values = compiled(self._database, statement)
        async with self._connection.cursor(row_factory=tuple_row) as cursor:
            await cursor.execute(to_pyformat(sql), values)
            return await cursor.fetchall() if cursor.description else []

    async def execute(self, sql: str) -> None:
        """Words without values."""
        await self._connection.execute(sql)


class SqlalchemyAsyncExecutor:
    """SQLAlchemy's AsyncConnection or AsyncSession, over asyncpg or psycopg."""

    def __init__(self, database: Database, connection: Any) -> None:
        _check_async(database)
        self._database, self._connection = database, connection

    async def run(self, statement: Statement) -> Rows:
        """One statement, in the parameter style of the driver below."""
        sql, values = compiled(self._database, statement)
        if self._connection.dialect.paramstyle == "numeric_dollar":
            text, names = to_numbered(sql)
            result = await self._connection.exec_driver_sql(
                text, tuple(values[name] for name in names)
            )
        else:
            result = await self._connection.exec_driver_sql(to_pyformat(sql), values)
        return [tuple(row) for row in result] if result.returns_rows else []

    async def execute(self, sql: str) -> None:
        """Words without values."""
        await self._connection.exec_driver_sql(sql)


class PlainExecutor:
    """A blocking connection in async code: the caller's choice, so it is not moved to a thread."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    async def run(self, statement: Statement) -> Rows:
        """One statement."""
        return self._executor.run(statement)

    async def execute(self, sql: str) -> None:
        """Words without values."""
        self._executor.execute(sql)


def compiled(database: Database, statement: Statement) -> tuple[str, dict[str, Any]]:
    """The one step of a PostgreSQL query, and its values."""
    stamped = database.stamp(statement)
    query = database.queries.get(stamped.name, stamped.where)
    return query.steps[0], dict(database.dialect.values(stamped))


def _check_async(database: Database) -> None:
    if database.dialect.name != "postgres":
        raise OptionError(f"async connections are for PostgreSQL, not {database.dialect.name}")
