"""Migrations that were killed: run again, they end with the same schema as in one go."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tenure.core.job import State
from tenure.stores import open_store
from tenure.stores.sql.migrations import Migrations, parse
from tenure.stores.sql.store import SqlStore, sql_store
from tenure.testing.conformance.actions import add_job, state_of
from tenure.testing.conformance.promise import promise
from tests.support.crashes import killed_at
from tests.support.databases import Databases

CATALOGUE = {
    "sqlite": "SELECT name, sql FROM sqlite_master WHERE name LIKE 'tenure%' ORDER BY name",
    "postgres": "SELECT c.relname, coalesce(pg_get_indexdef(i.indexrelid), ''), i.indisvalid, "
    "(SELECT string_agg(format('%s %s %s %s', attname, atttypid::regtype, attnotnull, attnum), ',' "
    "ORDER BY attnum) FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0) "
    "FROM pg_class c LEFT JOIN pg_index i ON i.indexrelid = c.oid "
    "WHERE c.relname LIKE 'tenure%' ORDER BY 1",
    "mysql": "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() "
    "AND table_name LIKE 'tenure%' ORDER BY 1",
}
MOST_CHILDREN = 2_000
pytestmark = pytest.mark.crash
DATA = parse(
    99, "data", "-- serves: 1\nUPDATE tenure_jobs SET priority = priority + 1;\nSELECT 1;\n"
)


@pytest.fixture
def store(fresh_database_url: str) -> Iterator[SqlStore]:
    """On a database with nothing in it."""
    opened = sql_store(open_store(fresh_database_url, auto_migrate=False))
    yield opened
    opened.close()


def rows(store: SqlStore, sql: str) -> list[Any]:
    with store.database.raw_connection() as connection:
        cursor = connection.cursor()
        cursor.execute(sql)
        return list(cursor.fetchall())


def schema_of(store: SqlStore) -> list[Any]:
    """All tables, columns and indexes, and what is recorded of migrations."""
    name = store.database.dialect.name
    found = rows(store, CATALOGUE[name])
    if name == "mysql":
        found = [rows(store, f"SHOW CREATE TABLE {table}") for (table,) in found]
    done = "SELECT version, name, serves FROM tenure_migrations ORDER BY version"
    return [found, rows(store, done)]


def in_one_go(databases: Databases, folder: Path) -> list[Any]:
    folder.mkdir()
    store = sql_store(open_store(databases.fresh(folder), auto_migrate=False))
    store.migrations.apply()
    try:
        return schema_of(store)
    finally:
        store.close()


def place(store: SqlStore) -> list[Any]:
    """How far migrations have come."""
    with store.database.raw_connection() as connection:
        if not store.database.dialect.has_table(connection, "tenure_migrations"):
            return []
    return rows(store, "SELECT version, name FROM tenure_migrations ORDER BY version")


def migrate_and_die_everywhere(url: str) -> int:
    """Killed before each change of each statement, then of the next one; how often."""
    watcher = sql_store(open_store(url, auto_migrate=False))
    before, change = place(watcher), 1
    for deaths in range(MOST_CHILDREN):
        if not killed_at(
            change, lambda: sql_store(open_store(url, auto_migrate=False)).migrations.apply()
        ):
            watcher.close()
            return deaths
        reached = place(watcher)
        before, change = reached, 1 if reached != before else change + 1
    raise AssertionError("the migrations do not come to an end")


@promise(13)
def test_a_new_schema_is_whole_wherever_its_making_was_killed(
    store: SqlStore, databases: Databases, fresh_database_url: str, tmp_path: Path
) -> None:
    deaths = migrate_and_die_everywhere(fresh_database_url)

    assert deaths > sum(len(one.statements) for one in store.migrations.all)
    assert schema_of(store) == in_one_go(databases, tmp_path / "other")


@promise(13)
def test_a_schema_in_use_is_whole_wherever_its_migration_was_killed(
    store: SqlStore, databases: Databases, fresh_database_url: str, tmp_path: Path
) -> None:
    Migrations(store.database, store.migrations.all[:1]).apply()

    deaths = migrate_and_die_everywhere(fresh_database_url)

    assert deaths > sum(len(one.statements) for one in store.migrations.all[1:])
    assert schema_of(store) == in_one_go(databases, tmp_path / "other")
    assert state_of(store, add_job(store)) is State.QUEUED


@promise(13)
def test_a_change_of_rows_is_made_once_wherever_it_was_killed(
    store: SqlStore, fresh_database_url: str
) -> None:
    store.migrations.apply()
    job_id = add_job(store)
    before = store.jobs.get(job_id)

    def migrate() -> None:
        newer = sql_store(open_store(fresh_database_url, auto_migrate=False))
        Migrations(newer.database, [*newer.migrations.all, DATA]).apply()

    change = 1
    while killed_at(change, migrate):
        change += 1
    after = store.jobs.get(job_id)

    assert change > 3
    assert before is not None
    assert after is not None
    assert after.priority == before.priority + 1
