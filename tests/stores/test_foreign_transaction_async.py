"""The same in async code: asyncpg, psycopg's AsyncConnection, SQLAlchemy's AsyncSession."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from functools import partial
from typing import Any, cast

import asyncpg  # type: ignore[import-untyped]
import psycopg
import pytest
from psycopg.rows import dict_row
from sqlalchemy import NullPool, make_url

from tenure.core.errors import KeyConflict, OptionError
from tenure.core.job import NewJob
from tenure.stores.contract import Added
from tenure.stores.sql.store import SqlStore
from tenure.testing.conformance.actions import add, count_of, ids_of, keyed

pytestmark = [
    pytest.mark.parametrize("clock", ["real_clock"], indirect=True),
    pytest.mark.parametrize("dialect", ["postgres"], indirect=True),
]
Opener = Callable[[str], Any]
BROKEN = NewJob(kind=cast(str, None))


async def add_async(store: SqlStore, tx: Any, *jobs: NewJob) -> list[Added]:
    return await store.jobs.add_async(jobs, tx)


class Ends:
    """One way to begin, commit and roll back, whatever the driver calls it."""

    def __init__(self, tx: Any, begin: Any, commit: Any, rollback: Any) -> None:
        self.tx, self.begin, self.commit, self.rollback = tx, begin, commit, rollback


async def nothing() -> None:
    """Drivers that begin by themselves."""


@asynccontextmanager
async def on_asyncpg(url: str) -> AsyncIterator[Ends]:
    connection = await asyncpg.connect(url)

    def run(sql: str) -> Callable[[], Awaitable[Any]]:
        return lambda: connection.execute(sql)

    try:
        yield Ends(connection, run("BEGIN"), run("COMMIT"), run("ROLLBACK"))
    finally:
        await connection.close()


@asynccontextmanager
async def on_psycopg(url: str) -> AsyncIterator[Ends]:
    connection = await psycopg.AsyncConnection.connect(url, row_factory=dict_row)
    try:
        yield Ends(connection, nothing, connection.commit, connection.rollback)
    finally:
        await connection.close()


@asynccontextmanager
async def on_session(url: str, driver: str) -> AsyncIterator[Ends]:
    from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine

    address = make_url(url).set(drivername=f"postgresql+{driver}")
    engine = create_async_engine(address, poolclass=NullPool)
    async with AsyncSession(engine) as session:
        yield Ends(session, nothing, session.commit, session.rollback)
    await engine.dispose()


OPENERS = [
    pytest.param(on_asyncpg, id="asyncpg"),
    pytest.param(on_psycopg, id="psycopg"),
    pytest.param(partial(on_session, driver="asyncpg"), id="session-asyncpg"),
    pytest.param(partial(on_session, driver="psycopg"), id="session-psycopg"),
]


@pytest.mark.parametrize("opened", OPENERS)
def test_an_async_transaction_carries_the_job(
    store: SqlStore, database_url: str, opened: Opener
) -> None:
    async def enqueue() -> list[Added]:
        async with opened(database_url) as ends:
            await ends.begin()
            await add_async(store, ends.tx, NewJob(kind="work"), keyed("k"))
            await ends.rollback()
            await ends.begin()
            added = await add_async(store, ends.tx, NewJob(kind="work"), keyed("k", "2"))
            await ends.commit()
            return added

    added = asyncio.run(enqueue())

    assert ids_of(store) == [answer.id for answer in added]


@pytest.mark.parametrize("opened", OPENERS)
def test_a_conflict_leaves_an_async_transaction_as_it_was(
    store: SqlStore, database_url: str, opened: Opener
) -> None:
    add(store, keyed("taken", "1"))

    async def enqueue() -> list[Added]:
        async with opened(database_url) as ends:
            await ends.begin()
            with pytest.raises(KeyConflict):
                await add_async(store, ends.tx, NewJob(kind="lost"), keyed("taken", "2"))
            added = await add_async(store, ends.tx, NewJob(kind="work"))
            await ends.commit()
            return added

    [added] = asyncio.run(enqueue())

    assert ids_of(store)[1:] == [added.id]


def test_asyncpg_outside_a_transaction_keeps_all_or_none(
    store: SqlStore, database_url: str
) -> None:
    async def enqueue() -> None:
        async with on_asyncpg(database_url) as ends:
            with pytest.raises(Exception, match=r".+"):
                await add_async(store, ends.tx, keyed("w", "1", window=3600), BROKEN)
            [again] = await add_async(store, ends.tx, keyed("w", "2", window=3600))
            assert again.created

    asyncio.run(enqueue())

    assert count_of(store) == 1


def test_psycopgs_async_autocommit_keeps_all_or_none(store: SqlStore, database_url: str) -> None:
    async def enqueue() -> None:
        connection = await psycopg.AsyncConnection.connect(database_url, autocommit=True)
        async with connection:
            with pytest.raises(Exception, match=r".+"):
                await add_async(store, connection, keyed("w", "1", window=3600), BROKEN)
            [again] = await add_async(store, connection, keyed("w", "2", window=3600))
            assert again.created

    asyncio.run(enqueue())

    assert count_of(store) == 1


def test_a_plain_connection_may_be_used_in_async_code(store: SqlStore, database_url: str) -> None:
    async def enqueue(connection: Any) -> None:
        await add_async(store, connection, NewJob(kind="work"))
        connection.commit()

    with closing(psycopg.connect(database_url)) as connection:
        asyncio.run(enqueue(connection))

    assert count_of(store) == 1


def test_an_async_connection_in_plain_code_is_told_the_other_name(
    store: SqlStore, database_url: str
) -> None:
    async def enqueue() -> None:
        async with on_asyncpg(database_url) as ends:
            with pytest.raises(OptionError, match="enqueue_async"):
                add(store, NewJob(kind="work"), tx=ends.tx)

    asyncio.run(enqueue())


def test_a_connection_to_another_database_is_refused_in_async_code_too(store: SqlStore) -> None:
    with closing(sqlite3.connect(":memory:")) as other, pytest.raises(OptionError):
        asyncio.run(add_async(store, other, NewJob(kind="work")))
