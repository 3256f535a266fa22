"""Migrations beside a fleet at work: nobody waits for long, whatever is in the way."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tenure.core.job import NewJob, State
from tenure.stores import open_store
from tenure.stores.mysql import schema as mysql_schema
from tenure.stores.sql.migrations import Migration, Migrations, load, parse
from tenure.stores.sql.store import SqlStore, sql_store
from tenure.testing.conformance.actions import add_job, state_of
from tenure.testing.conformance.promise import promise
from tests.support.until import until

NOW = load("tenure.stores.sqlite")[-1].version
INDEX = parse(
    NOW + 1,
    "by_kind",
    f"-- Why.\n-- serves: {NOW}\n\nCREATE INDEX tenure_jobs_kind ON tenure_jobs (kind, id);\n",
)
COLUMN = parse(
    NOW + 1,
    "colours",
    f"-- serves: {NOW}\nALTER TABLE tenure_jobs ADD COLUMN colour INTEGER DEFAULT 7;\n",
)
VALID = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('tenure_jobs_kind')"
BUILDERS = "SELECT pid FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX CONCURRENTLY%'"
LONGEST_WAIT = 4.0

servers = pytest.mark.parametrize("dialect", ["postgres", "mysql"], indirect=True)
postgres_only = pytest.mark.parametrize("dialect", ["postgres"], indirect=True)
mysql_only = pytest.mark.parametrize("dialect", ["mysql"], indirect=True)


@pytest.fixture
def store(fresh_database_url: str) -> Iterator[SqlStore]:
    """On a database of its own, with this code's schema."""
    opened = sql_store(open_store(fresh_database_url))
    opened.migrations.apply()
    yield opened
    opened.close()


@pytest.fixture
def watcher(store: SqlStore) -> Iterator[Any]:
    """A connection to look around with."""
    with store.database.raw_connection() as connection:
        yield connection


def newer(store: SqlStore, migration: Migration) -> Migrations:
    return Migrations(store.database, [*store.migrations.all, migration])


def ask(connection: Any, sql: str) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return list(cursor.fetchall())


@promise(13)
@servers
def test_a_change_that_waits_for_an_open_transaction_lets_others_pass(store: SqlStore) -> None:
    add_job(store)
    waits: list[float] = []
    with ThreadPoolExecutor(1) as pool:
        with store.transaction() as tx:
            tx.execute("SELECT count(*) FROM tenure_jobs").fetchall()
            migrating = pool.submit(newer(store, COLUMN).apply)
            while len(waits) < 40 or sum(waits) < 1.5:
                begun = time.monotonic()
                add_job(store)
                waits.append(time.monotonic() - begun)
            assert not migrating.done()
        assert [one.name for one in migrating.result(60)] == ["colours"]

    assert max(waits) < LONGEST_WAIT


@promise(13)
@servers
def test_writers_go_on_while_an_index_waits_for_an_open_transaction(store: SqlStore) -> None:
    with ThreadPoolExecutor(1) as pool:
        with store.transaction() as tx:
            store.jobs.add([NewJob(kind="work")], tx=tx)
            migrating = pool.submit(newer(store, ADD_KEY[store.database.dialect.name]).apply)
            begun = time.monotonic()
            ids = [add_job(store) for _ in range(20)]
            assert time.monotonic() - begun < 2 * LONGEST_WAIT
        assert [one.name for one in migrating.result(60)] == ["by_kind"]

    assert [state_of(store, one) for one in ids] == [State.QUEUED] * 20


ADD_KEY = {
    "postgres": INDEX,
    "mysql": parse(
        NOW + 1,
        "by_kind",
        f"-- serves: {NOW}\nALTER TABLE tenure_jobs ADD KEY tenure_jobs_kind (kind, id);\n",
    ),
}


@promise(13)
@postgres_only
@pytest.mark.parametrize("server_side", ["goes on", "stops too"])
def test_an_index_whose_builder_was_killed_is_there_in_the_end(
    store: SqlStore, watcher: Any, fresh_database_url: str, server_side: str
) -> None:
    with store.database.raw_connection() as blocker, ThreadPoolExecutor(1) as pool:
        blocker.execute("BEGIN")
        blocker.execute("LOCK TABLE tenure_jobs IN ROW EXCLUSIVE MODE")
        child = fork_migrator(fresh_database_url)
        until(lambda: ask(watcher, VALID) == [(False,)])
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        if server_side == "stops too":
            ask(watcher, BUILDERS.replace("pid", "pg_terminate_backend(pid)", 1))
            until(lambda: ask(watcher, BUILDERS) == [])
        again = pool.submit(newer(store, INDEX).apply)
        blocker.execute("COMMIT")
        assert [one.name for one in again.result(60)] == ["by_kind"]

    assert ask(watcher, VALID) == [(True,)]


def fork_migrator(url: str) -> int:
    child = os.fork()
    if child == 0:
        try:
            newer(sql_store(open_store(url)), INDEX).apply()
        finally:
            os._exit(0)
    return child


@postgres_only
def test_a_dry_run_shows_that_indexes_are_built_concurrently(store: SqlStore) -> None:
    migrations = newer(store, INDEX)

    script = migrations.script(migrations.pending())

    assert script.startswith(f"-- Why.\n-- serves: {NOW}\n")
    assert "CREATE INDEX CONCURRENTLY tenure_jobs_kind ON tenure_jobs (kind, id);" in script


@mysql_only
def test_a_dry_run_shows_that_a_table_is_not_locked(store: SqlStore) -> None:
    migrations = newer(store, ADD_KEY["mysql"])

    script = migrations.script(migrations.pending())

    assert "(kind, id), ALGORITHM=INPLACE, LOCK=NONE;" in script


@mysql_only
def test_what_is_there_already_is_left_out_clause_by_clause(watcher: Any, store: SqlStore) -> None:
    sql = (
        "ALTER TABLE tenure_jobs ADD COLUMN reason TEXT, ADD COLUMN x VARCHAR(9) DEFAULT 'a,b', "
        "ADD KEY tenure_jobs_due (due_queue, id), DROP KEY tenure_jobs_gone, DROP COLUMN tenant"
    )

    left = mysql_schema.missing(watcher, sql)

    assert left is not None
    assert mysql_schema.split(left.removeprefix("ALTER TABLE tenure_jobs ")) == [
        "ADD COLUMN x VARCHAR(9) DEFAULT 'a,b'",
        "DROP COLUMN tenant",
    ]


@mysql_only
@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE tenure_jobs (id INT)",
        "CREATE TABLE IF NOT EXISTS tenure_jobs (id INT)",
        "DROP TABLE tenure_gone",
        "CREATE INDEX tenure_jobs_due ON tenure_jobs (id)",
        "DROP INDEX tenure_jobs_gone ON tenure_jobs",
        "ALTER TABLE tenure_jobs ADD COLUMN /*M! IF NOT EXISTS */ chained SMALLINT",
    ],
)
def test_what_is_done_is_not_done_again(watcher: Any, store: SqlStore, sql: str) -> None:
    assert mysql_schema.missing(watcher, sql) is None


@mysql_only
def test_a_change_that_cannot_be_made_beside_writers_is_made_all_the_same(
    store: SqlStore, watcher: Any
) -> None:
    narrower = parse(
        NOW + 1, "narrower", f"-- serves: {NOW}\nALTER TABLE tenure_jobs MODIFY seq INT;\n"
    )

    newer(store, narrower).apply()

    kind = (
        "SELECT data_type FROM information_schema.columns WHERE table_schema = DATABASE() "
        "AND table_name = 'tenure_jobs' AND column_name = 'seq'"
    )
    assert ask(watcher, kind) == [("int",)]
