"""Workers are told of a caller's jobs after the caller's commit, and never after a rollback."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator
from functools import partial
from typing import Any

import pytest
from sqlalchemy.orm import Session

from tenure import OptionError, Tenure
from tenure.core.filter import JobFilter
from tenure.core.job import NewJob, State
from tenure.stores.sql.store import SqlStore
from tests.stores.test_due_jobs import Ear
from tests.stores.test_foreign_transaction import autocommit, connected, django_connected
from tests.stores.test_foreign_transaction_async import on_asyncpg, on_psycopg, on_session
from tests.support.databases import engine_for

pytestmark = pytest.mark.parametrize("clock", ["real_clock"], indirect=True)
POSTGRES = pytest.mark.parametrize("dialect", ["postgres"], indirect=True)
DJANGO = pytest.mark.parametrize("dialect", ["sqlite", "postgres"], indirect=True)


class Told:
    """What the store's workers were told, and how many jobs they could see at that moment."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store
        self.heard: list[tuple[list[str], int]] = []

    def __call__(self, queues: Collection[str]) -> None:
        seen = self._store.jobs.count(JobFilter()).get(State.QUEUED, 0)
        self.heard.append((sorted(queues), seen))


@pytest.fixture
def told(store: SqlStore) -> Iterator[Told]:
    told = Told(store)
    stop = store.wakeups.subscribe(told)
    yield told
    stop()


def put(store: SqlStore, tx: Any, queue: str) -> None:
    store.jobs.add([NewJob(kind="work", queue=queue)], tx)


def test_a_sqlalchemy_connection_tells_after_its_commit(
    store: SqlStore, database_url: str, told: Told
) -> None:
    engine = engine_for(database_url)
    with engine.connect() as connection:
        put(store, connection, "rolled back")
        connection.rollback()
        put(store, connection, "a")
        put(store, connection, "b")
        assert told.heard == []
        connection.commit()
        assert told.heard == [(["a", "b"], 2)]
        connection.commit()
        put(store, connection, "left open")
    with pytest.raises(ZeroDivisionError), engine.begin() as connection:
        put(store, connection, "raised")
        raise ZeroDivisionError
    with engine.begin() as connection:
        put(store, connection, "c")

    assert told.heard == [(["a", "b"], 2), (["c"], 3)]


def test_a_sqlalchemy_session_tells_after_its_outer_commit(
    store: SqlStore, database_url: str, told: Told
) -> None:
    with Session(engine_for(database_url)) as session:
        put(store, session, "rolled back")
        session.rollback()
        with session.begin_nested():
            put(store, session, "a")
        assert told.heard == []
        session.commit()

    assert told.heard == [(["a"], 1)]


def test_in_autocommit_mode_a_call_is_told_at_once(
    store: SqlStore, database_url: str, told: Told
) -> None:
    with connected(database_url, **autocommit(database_url)) as connection:
        put(store, connection, "a")
        assert told.heard == [(["a"], 1)]


def test_a_raw_connection_leaves_it_to_the_next_poll(
    store: SqlStore, database_url: str, told: Told
) -> None:
    with connected(database_url) as connection:
        put(store, connection, "a")
        connection.commit()

    assert told.heard == []


@DJANGO
def test_djangos_atomic_tells_after_its_commit(
    store: SqlStore, database_url: str, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    import django
    from django.db import transaction

    with django_connected(database_url) as connection:
        django.setup()
        monkeypatch.setattr(transaction, "get_connection", lambda using=None: connection)
        with transaction.atomic():
            put(store, connection, "a")
            with pytest.raises(ZeroDivisionError), transaction.atomic():
                put(store, connection, "rolled back to a savepoint")
                raise ZeroDivisionError
            assert told.heard == []
        assert told.heard == [(["a"], 1)]
        with pytest.raises(ZeroDivisionError), transaction.atomic():
            put(store, connection, "rolled back")
            raise ZeroDivisionError
        put(store, connection, "by itself")
        connection.set_autocommit(False)
        put(store, connection, "by hand")
        connection.commit()

    assert told.heard == [(["a"], 1), (["by itself"], 2)]


@POSTGRES
@pytest.mark.parametrize("driver", ["asyncpg", "psycopg"])
def test_an_async_session_tells_after_its_commit(
    store: SqlStore, database_url: str, told: Told, driver: str
) -> None:
    async def enqueue() -> None:
        async with on_session(database_url, driver) as ends:
            await store.jobs.add_async([NewJob(kind="work", queue="rolled back")], ends.tx)
            await ends.rollback()
            await store.jobs.add_async([NewJob(kind="work", queue="a")], ends.tx)
            assert told.heard == []
            await ends.commit()
            assert told.heard == [(["a"], 1)]

    asyncio.run(enqueue())


@POSTGRES
def test_an_async_connection_outside_a_transaction_tells_at_once(
    store: SqlStore, database_url: str, told: Told
) -> None:
    async def enqueue() -> None:
        async with on_asyncpg(database_url) as ends:
            await store.jobs.add_async([NewJob(kind="work", queue="a")], ends.tx)
            await ends.begin()
            await store.jobs.add_async([NewJob(kind="work", queue="nobody knows")], ends.tx)
            await ends.commit()

    asyncio.run(enqueue())

    assert told.heard == [(["a"], 1)]


@POSTGRES
def test_the_transaction_itself_may_tell(store: SqlStore, database_url: str) -> None:
    app, ear = Tenure(database_url), Ear(database_url)
    with connected(database_url) as connection:
        app.enqueue("work", queue="rolled back", tx=connection, notify="transaction")
        connection.rollback()
        app.enqueue("work", queue="100 %s", tx=connection, notify="transaction")
        app.enqueue("work", queue="later", delay=60, tx=connection, notify="transaction")
        assert ear.rest() == []
        connection.commit()
    assert ear.rest() == [["100 %s"]]
    ear.connection.close()
    app.close()


@POSTGRES
@pytest.mark.parametrize(
    "opened", [on_asyncpg, on_psycopg, partial(on_session, driver="asyncpg"),
               partial(on_session, driver="psycopg")]
)  # fmt: skip
def test_so_may_an_async_one(store: SqlStore, database_url: str, opened: Any) -> None:
    app, ear = Tenure(database_url), Ear(database_url)

    async def enqueue() -> None:
        async with opened(database_url) as ends:
            await ends.begin()
            await app.enqueue_async("work", queue="%", tx=ends.tx, notify="transaction")
            await ends.commit()

    asyncio.run(enqueue())
    assert ear.rest() == [["%"]]
    ear.connection.close()
    app.close()


def test_what_the_transaction_cannot_tell_is_refused(
    store: SqlStore, database_url: str, dialect: str
) -> None:
    app = Tenure(database_url)
    with pytest.raises(OptionError, match="needs tx"):
        app.enqueue("work", notify="transaction")
    with connected(database_url) as connection:
        with pytest.raises(OptionError, match="must be 'transaction'"):
            app.enqueue("work", notify="always", tx=connection)
        if dialect != "postgres":
            with pytest.raises(OptionError, match="needs PostgreSQL"):
                app.enqueue("work", notify="transaction", tx=connection)
    app.close()
