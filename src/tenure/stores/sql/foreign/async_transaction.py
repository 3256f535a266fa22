"""Runs a plan in a foreign transaction of an async driver: asyncpg, psycopg, SQLAlchemy.

Only PostgreSQL has such drivers that Tenure knows. The plans are the same as everywhere.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Protocol, TypeVar

from tenure.core.errors import OptionError
from tenure.stores.sql.database import Database
from tenure.stores.sql.foreign.transaction import (
    adopt,
    inside_transaction,
    is_async,
    library,
    outside_transaction,
)
from tenure.stores.sql.queries import to_numbered, to_pyformat
from tenure.stores.sql.statement import Executor, Plan, Rows, Statement

T = TypeVar("T")


class AsyncExecutor(Protocol):
    """The same on an async driver."""

    async def run(self, statement: Statement) -> Rows:
        """All rows of its answer."""
        ...

    async def execute(self, sql: str) -> Any:
        """A statement without values and rows."""
        ...


async def run_in_async(database: Database, tx: Any, plan: Callable[[], Plan[T]]) -> T:
    """In the caller's async (or plain) connection."""
    async with adopt_async(database, tx) as executor:
        return await drive_async(plan(), executor)


async def drive_async(plan: Plan[T], executor: AsyncExecutor) -> T:
    """The same plan on an async driver."""
    try:
        statement = next(plan)
        while True:
            try:
                rows = await executor.run(statement)
            except Exception as error:  # the plan may handle it
                statement = plan.throw(error)
            else:
                statement = plan.send(rows)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


@asynccontextmanager
async def adopt_async(database: Database, tx: Any) -> AsyncIterator[AsyncExecutor]:
    """An executor on an async connection or session; a plain one is used as it is."""
    if database.before_adopting is not None and is_async(tx):
        _check_async(database)
        await asyncio.to_thread(database.before_adopting, tx, inside_transaction(tx))
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
    if not outside_transaction(connection):
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
        """A statement without values."""
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
        """A statement without values."""
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
        """A statement without values."""
        await self._connection.exec_driver_sql(sql)


class PlainExecutor:
    """A blocking connection in async code: the user's choice, so it is not moved to a thread."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    async def run(self, statement: Statement) -> Rows:
        """One statement."""
        return self._executor.run(statement)

    async def execute(self, sql: str) -> None:
        """A statement without values."""
        self._executor.execute(sql)


def compiled(database: Database, statement: Statement) -> tuple[str, dict[str, Any]]:
    """The text of a PostgreSQL query, which is one statement, and its values."""
    stamped = database.stamp(statement)
    query = database.queries.get(stamped.name, stamped.where)
    return query.steps[0], dict(database.dialect.values(stamped))


def _check_async(database: Database) -> None:
    if database.dialect.name != "postgres":
        raise OptionError(f"async connections are for PostgreSQL, not {database.dialect.name}")
