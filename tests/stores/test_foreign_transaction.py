"""Adding in the caller's own transaction: rolled back there is no job, committed there is one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import psycopg
import pymysql
import pymysql.cursors
import pytest
from psycopg.rows import dict_row
from sqlalchemy.orm import Session

from tenure.core.errors import KeyConflict, NeedsImmediate, OptionError, OutsideTransaction
from tenure.core.job import NewJob, State
from tenure.core.settlement import Settlement
from tenure.stores import open_store
from tenure.stores.sql.store import SqlStore
from tenure.testing.conformance.actions import (
    add,
    add_job,
    claim_ids,
    count_of,
    ids_of,
    keyed,
    start_job,
    state_of,
)
from tests.support.databases import engine_for

pytestmark = pytest.mark.parametrize("clock", ["real_clock"], indirect=True)
SQLITE = pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
POSTGRES = pytest.mark.parametrize("dialect", ["postgres"], indirect=True)
MYSQL = pytest.mark.parametrize("dialect", ["mysql"], indirect=True)
BROKEN = NewJob(kind=cast(str, None))


def path_of(url: str) -> str:
    return url.removeprefix("sqlite:///")


def pymysql_options(url: str) -> dict[str, Any]:
    parts = urlsplit(url)
    return {
        "host": parts.hostname,
        "port": parts.port,
        "user": parts.username,
        "password": parts.password or "",
        "database": parts.path.lstrip("/"),
    }


@contextmanager
def connected(url: str, **options: Any) -> Iterator[Any]:
    """A plain connection of the database's usual driver."""
    with closing(connect(url, **options)) as connection:
        yield connection


def connect(url: str, **options: Any) -> Any:
    if url.startswith("sqlite"):
        return sqlite3.connect(path_of(url), **options)
    if url.startswith("postgresql"):
        return psycopg.connect(url, **options)
    return pymysql.connect(**pymysql_options(url), **options)


def autocommit(url: str) -> dict[str, Any]:
    return {"isolation_level": None} if url.startswith("sqlite") else {"autocommit": True}


def test_what_the_caller_commits_is_there(store: SqlStore, database_url: str) -> None:
    with connected(database_url) as connection:
        [added] = add(store, NewJob(kind="work"), tx=connection)
        assert store.jobs.get(added.id) is None
        connection.commit()

    assert claim_ids(store) == [added.id]


def test_what_the_caller_rolls_back_never_was(store: SqlStore, database_url: str) -> None:
    with connected(database_url) as connection:
        add(store, NewJob(kind="work"), keyed("k"), keyed("w", window=60), tx=connection)
        connection.rollback()

    assert count_of(store) == 0
    assert all(answer.created for answer in add(store, keyed("k", "2"), keyed("w", "2", window=60)))


def test_the_callers_rows_and_the_job_are_one_transaction(
    store: SqlStore, database_url: str
) -> None:
    with connected(database_url) as connection:
        cursor = connection.cursor()
        cursor.execute("DROP TABLE IF EXISTS caller_rows")
        cursor.execute("CREATE TABLE caller_rows (id INTEGER PRIMARY KEY)")
        connection.commit()
        for number, end in ((1, connection.rollback), (2, connection.commit)):
            cursor.execute(f"INSERT INTO caller_rows VALUES ({number})")  # noqa: S608
            add(store, NewJob(kind="work"), tx=connection)
            end()
        cursor.execute("SELECT id FROM caller_rows")
        found = list(cursor.fetchall())
        cursor.execute("DROP TABLE caller_rows")
        connection.commit()

    assert ([row[0] for row in found], count_of(store)) == ([2], 1)


def test_a_conflict_leaves_the_callers_rows(store: SqlStore, database_url: str) -> None:
    add(store, keyed("taken", "1"))
    with connected(database_url) as connection:
        [mine] = add(store, NewJob(kind="mine"), tx=connection)
        with pytest.raises(KeyConflict):
            add(store, NewJob(kind="lost"), keyed("free"), keyed("taken", "2"), tx=connection)
        [also] = add(store, keyed("free", "3"), tx=connection)
        connection.commit()

    assert ids_of(store)[1:] == [mine.id, also.id]


def test_a_job_settles_in_the_callers_transaction(store: SqlStore, database_url: str) -> None:
    job = start_job(store)
    done = Settlement(lease=job.lease, state=State.SUCCEEDED)
    with connected(database_url) as connection:
        assert store.jobs.settle([done], tx=connection) == {job.id}
        connection.rollback()
        assert state_of(store, job.id) is State.RUNNING
        assert store.jobs.settle([done], tx=connection) == {job.id}
        connection.commit()

    assert state_of(store, job.id) is State.SUCCEEDED


def test_an_autocommit_connection_commits_the_call_as_a_whole(
    store: SqlStore, database_url: str
) -> None:
    with connected(database_url, **autocommit(database_url)) as connection:
        [first, second] = add(store, NewJob(kind="work"), keyed("k"), tx=connection)

    assert ids_of(store) == [first.id, second.id]


def test_an_autocommit_connection_keeps_all_or_none(store: SqlStore, database_url: str) -> None:
    with connected(database_url, **autocommit(database_url)) as connection:
        with pytest.raises(Exception, match=r".+"):
            add(store, keyed("w", "1", window=3600), BROKEN, tx=connection)
        assert add(store, keyed("w", "2", window=3600), tx=connection)[0].created

    assert count_of(store) == 1


def test_an_autocommit_connection_inside_its_own_transaction_stays_in_it(
    store: SqlStore, database_url: str
) -> None:
    with connected(database_url, **autocommit(database_url)) as connection:
        connection.cursor().execute("BEGIN")
        add(store, NewJob(kind="work"), tx=connection)
        connection.cursor().execute("ROLLBACK")

    assert count_of(store) == 0


@SQLITE
@pytest.mark.parametrize("factory", [sqlite3.Row, lambda cursor, row: {"row": row}])
def test_a_row_factory_of_the_callers_sqlite_connection_stays_his(
    store: SqlStore, database_url: str, factory: Any
) -> None:
    with connected(database_url) as connection:
        connection.row_factory = factory
        first, again = add(store, keyed("k"), keyed("k"), tx=connection)
        connection.commit()
        assert connection.row_factory is factory

    assert (again.id, again.created) == (first.id, False)


@POSTGRES
def test_a_dict_row_factory_does_not_disturb(store: SqlStore, database_url: str) -> None:
    with connected(database_url, row_factory=dict_row) as connection:
        first, again = add(store, keyed("k"), keyed("k"), tx=connection)
        connection.commit()

    assert (again.id, again.created) == (first.id, False)


@MYSQL
def test_a_dict_cursor_does_not_disturb(store: SqlStore, database_url: str) -> None:
    with connected(database_url, cursorclass=pymysql.cursors.DictCursor) as connection:
        first, again = add(store, keyed("k"), keyed("k"), tx=connection)
        connection.commit()

    assert (again.id, again.created) == (first.id, False)


@SQLITE
def test_a_reader_that_was_overtaken_is_told_to_begin_immediate(
    store: SqlStore, database_url: str
) -> None:
    with connected(database_url, isolation_level=None) as connection:
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM tenure_jobs").fetchone()
        add_job(store)

        with pytest.raises(NeedsImmediate, match="BEGIN IMMEDIATE"):
            add(store, NewJob(kind="work"), tx=connection)
        connection.execute("ROLLBACK")

    assert count_of(store) == 1


@SQLITE
def test_a_transaction_that_began_immediate_may_read_first(
    store: SqlStore, database_url: str
) -> None:
    with connected(database_url, isolation_level=None) as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("SELECT count(*) FROM tenure_jobs").fetchone()
        add(store, NewJob(kind="work"), tx=connection)
        connection.execute("COMMIT")

    assert count_of(store) == 1


def test_a_connection_to_another_database_is_refused(store: SqlStore, dialect: str) -> None:
    if dialect == "sqlite":
        other: Any = pymysql.connect(defer_connect=True)
    else:
        other = sqlite3.connect(":memory:")

    with pytest.raises(OptionError, match=f"the jobs are in {dialect}"):
        add(store, NewJob(kind="work"), tx=other)
    if dialect != "sqlite":
        other.close()
    with pytest.raises(OptionError):
        add(store, NewJob(kind="work"), tx="not a connection")


def test_a_cursor_is_no_connection(store: SqlStore, database_url: str) -> None:
    with connected(database_url) as connection, pytest.raises(OptionError, match="itself"):
        add(store, NewJob(kind="work"), tx=connection.cursor())
    with pytest.raises(OptionError):
        add(store, NewJob(kind="work"), tx=engine_for(database_url))

    assert count_of(store) == 0


def test_a_transaction_that_has_ended_takes_nothing_more(store: SqlStore) -> None:
    with store.transaction() as tx:
        add(store, NewJob(kind="work"), tx=tx)

    with pytest.raises(OutsideTransaction, match="has ended"):
        add(store, NewJob(kind="work"), tx=tx)
    with pytest.raises(OutsideTransaction):
        tx.execute("SELECT 1")
    assert count_of(store) == 1


def test_a_transaction_that_was_rolled_back_takes_nothing_more(store: SqlStore) -> None:
    with pytest.raises(ZeroDivisionError), store.transaction() as tx:
        raise ZeroDivisionError

    with pytest.raises(OutsideTransaction):
        add(store, NewJob(kind="work"), tx=tx)


def test_a_transaction_of_another_database_is_refused(store: SqlStore, tmp_path: Path) -> None:
    other = open_store(f"sqlite:///{tmp_path}/other.db")
    with other.transaction() as tx, pytest.raises(OptionError, match="another database"):
        add(store, NewJob(kind="work"), tx=tx)
    other.close()

    assert count_of(store) == 0


def test_a_sqlalchemy_connection_carries_the_job(store: SqlStore, database_url: str) -> None:
    engine = engine_for(database_url)
    with engine.connect() as connection:
        add(store, NewJob(kind="work"), tx=connection)
        connection.rollback()
        [added] = add(store, NewJob(kind="work"), tx=connection)
        connection.commit()

    assert ids_of(store) == [added.id]


def test_a_sqlalchemy_block_that_raises_leaves_no_job(store: SqlStore, database_url: str) -> None:
    engine = engine_for(database_url)
    with pytest.raises(ZeroDivisionError), engine.begin() as connection:
        add(store, NewJob(kind="work"), tx=connection)
        raise ZeroDivisionError
    with engine.begin() as connection:
        add(store, NewJob(kind="work"), tx=connection)

    assert count_of(store) == 1


def test_a_sqlalchemy_session_carries_the_job(store: SqlStore, database_url: str) -> None:
    with Session(engine_for(database_url)) as session:
        add(store, NewJob(kind="work"), tx=session)
        session.rollback()
        [added] = add(store, NewJob(kind="work"), tx=session)
        session.commit()

    assert ids_of(store) == [added.id]


def django_settings(url: str) -> dict[str, Any]:
    if url.startswith("sqlite"):
        return {"ENGINE": "django.db.backends.sqlite3", "NAME": path_of(url)}
    parts = urlsplit(url)
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": parts.path.lstrip("/"),
        "HOST": parts.hostname,
        "PORT": parts.port,
        "USER": parts.username,
        "PASSWORD": parts.password or "",
    }


@contextmanager
def django_connected(url: str) -> Iterator[Any]:
    """Django's connection to this database, as `django.db.connection` is one."""
    from django.conf import settings
    from django.db.utils import ConnectionHandler

    if not settings.configured:
        settings.configure(USE_TZ=True)
    connections = ConnectionHandler({"default": cast(Any, django_settings(url))})
    try:
        yield connections["default"]
    finally:
        connections.close_all()


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"], indirect=True)
def test_djangos_connection_carries_the_job(store: SqlStore, database_url: str) -> None:
    with django_connected(database_url) as connection:
        connection.set_autocommit(False)
        add(store, NewJob(kind="work"), tx=connection)
        connection.rollback()
        [added] = add(store, NewJob(kind="work"), tx=connection)
        connection.commit()

    assert ids_of(store) == [added.id]


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"], indirect=True)
def test_djangos_autocommit_commits_the_call_as_a_whole(store: SqlStore, database_url: str) -> None:
    with django_connected(database_url) as connection:
        first, second = add(store, NewJob(kind="work"), keyed("k"), tx=connection)

    assert ids_of(store) == [first.id, second.id]
