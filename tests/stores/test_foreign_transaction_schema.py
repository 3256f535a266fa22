"""The schema is checked before a caller's connection is used too: the same errors, no write."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import asyncpg  # type: ignore[import-untyped]
import psycopg
import pytest
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Session

from tenure import Tenure
from tenure.core.errors import CodeTooOld, MigrationsPending
from tenure.core.job import NewJob, State
from tenure.core.settlement import Settlement
from tenure.stores import open_store
from tenure.stores.sql.closed_database import put_mark
from tenure.stores.sql.migrations import Migrations, parse
from tenure.stores.sql.store import SqlStore, sql_store
from tenure.testing.conformance.actions import add_job, claim_one, count_of, state_of
from tenure.testing.conformance.promise import promise
from tests.stores.test_foreign_transaction import connected, path_of
from tests.support.databases import engine_for

SQLITE = pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
POSTGRES = pytest.mark.parametrize("dialect", ["postgres"], indirect=True)
WORK = NewJob(kind="work")


@pytest.fixture
def store(fresh_database_url: str) -> Iterator[SqlStore]:
    """On a database with nothing in it, which it may not change by itself."""
    opened = sql_store(open_store(fresh_database_url, auto_migrate=False))
    yield opened
    opened.close()


def move_on(store: SqlStore) -> None:
    """A schema that no longer serves this code."""
    future = store.migrations.latest + 1
    text = f"-- serves: {future}\nALTER TABLE tenure_jobs ADD COLUMN colour VARCHAR(20);"
    newer = parse(future, "future", text)
    Migrations(store.database, [*store.migrations.all, newer]).apply()


@promise(13)
def test_a_schema_that_is_missing_says_what_to_run(
    store: SqlStore, fresh_database_url: str
) -> None:
    with connected(fresh_database_url) as connection:
        with pytest.raises(MigrationsPending, match="run: tenure migrate"):
            store.jobs.add([WORK], tx=connection)
        connection.commit()


@promise(13)
def test_a_schema_that_refuses_this_code_writes_nothing(
    store: SqlStore, fresh_database_url: str
) -> None:
    store.migrations.apply()
    move_on(store)
    old = sql_store(open_store(fresh_database_url, auto_migrate=False))

    with connected(fresh_database_url) as connection:
        with pytest.raises(CodeTooOld, match="upgrade tenure"):
            old.jobs.add([WORK], tx=connection)
        connection.commit()
        with connection_cursor(connection) as cursor:
            cursor.execute("SELECT count(*) FROM tenure_jobs")
            assert cursor.fetchone()[0] == 0
    old.close()


@promise(13)
def test_records_keys_and_ends_of_jobs_are_refused_too(
    store: SqlStore, fresh_database_url: str
) -> None:
    store.migrations.apply()
    add_job(store)
    lease = claim_one(store).lease
    move_on(store)
    done = Settlement(lease=lease, state=State.SUCCEEDED)
    writes: list[Callable[[SqlStore, Any], object]] = [
        lambda old, tx: old.jobs.settle([done], tx=tx),
        lambda old, tx: old.keys.take("acme", "scope", "name", 60.0, tx=tx),
        lambda old, tx: old.adopt(tx).__enter__(),
    ]
    for write in writes:
        old = sql_store(open_store(fresh_database_url, auto_migrate=False))
        with connected(fresh_database_url) as connection, pytest.raises(CodeTooOld):
            write(old, connection)
        old.close()

    assert state_of(store, lease.job_id) is State.RUNNING


def test_a_session_in_its_transaction_gets_the_same_error(
    store: SqlStore, fresh_database_url: str
) -> None:
    with Session(engine_for(fresh_database_url)) as session:
        session.connection().exec_driver_sql("CREATE TABLE mine (id INTEGER)")
        session.connection().exec_driver_sql("INSERT INTO mine VALUES (1)")
        begun = time.monotonic()
        with pytest.raises(MigrationsPending, match="run: tenure migrate"):
            store.jobs.add([WORK], tx=session)
        assert time.monotonic() - begun < 10
        session.commit()


def test_a_database_that_was_moved_away_refuses_a_callers_connection(
    store: SqlStore, fresh_database_url: str
) -> None:
    store.migrations.apply()
    with store.database.raw_connection() as connection:
        put_mark(store.database, connection, "moved to elsewhere")

    with (
        connected(fresh_database_url) as connection,
        pytest.raises(Exception, match="moved to elsewhere"),
    ):
        store.jobs.add([WORK], tx=connection)


def test_where_that_is_allowed_the_schema_is_made(fresh_database_url: str) -> None:
    store = sql_store(open_store(fresh_database_url, auto_migrate=True))
    with connected(fresh_database_url) as connection:
        store.jobs.add([WORK], tx=connection)
        connection.commit()

    assert count_of(store) == 1
    store.close()


def test_beside_an_open_transaction_no_schema_is_made(fresh_database_url: str) -> None:
    """It would wait for that transaction, which waits for it."""
    store = sql_store(open_store(fresh_database_url, auto_migrate=True))
    with connected(fresh_database_url) as connection:
        with connection_cursor(connection) as cursor:
            cursor.execute("CREATE TABLE mine (id INTEGER)")
            cursor.execute("INSERT INTO mine VALUES (1)")
        begun = time.monotonic()
        with pytest.raises(MigrationsPending, match="run: tenure migrate before"):
            store.jobs.add([WORK], tx=connection)
        assert time.monotonic() - begun < 10
        connection.commit()
        store.jobs.add([WORK], tx=connection)
        connection.commit()

    assert count_of(store) == 1
    store.close()


@SQLITE
def test_enqueue_with_a_connection_makes_the_file(fresh_database_url: str) -> None:
    app = Tenure(fresh_database_url)
    with closing(sqlite3.connect(path_of(fresh_database_url))) as connection:
        job_id = app.enqueue("a", tx=connection)
        connection.commit()

    assert app.get(job_id).state is State.QUEUED
    app.close()


async def on_asyncpg(url: str, store: SqlStore) -> None:
    connection = await asyncpg.connect(url)
    try:
        await store.jobs.add_async([WORK], connection)
    finally:
        await connection.close()


async def on_psycopg(url: str, store: SqlStore) -> None:
    async with await psycopg.AsyncConnection.connect(url) as connection:
        await store.jobs.add_async([WORK], connection)


async def on_async_session(url: str, store: SqlStore) -> None:
    engine = create_async_engine(url.replace("postgresql://", "postgresql+asyncpg://"))
    async with AsyncSession(engine) as session:
        try:
            await store.jobs.add_async([WORK], session)
            await session.commit()
        finally:
            await session.close()
            await engine.dispose()


async def on_plain(url: str, store: SqlStore) -> None:
    with psycopg.connect(url) as connection:
        await store.jobs.add_async([WORK], connection)


@POSTGRES
@pytest.mark.parametrize("use", [on_asyncpg, on_psycopg, on_async_session, on_plain])
def test_async_code_is_refused_or_served_alike(
    store: SqlStore, fresh_database_url: str, use: Callable[[str, SqlStore], Any]
) -> None:
    with pytest.raises(MigrationsPending):
        asyncio.run(use(fresh_database_url, store))

    allowed = sql_store(open_store(fresh_database_url, auto_migrate=True))
    asyncio.run(use(fresh_database_url, allowed))

    assert count_of(allowed) == 1
    allowed.close()


def connection_cursor(connection: Any) -> Any:
    return closing(connection.cursor())
