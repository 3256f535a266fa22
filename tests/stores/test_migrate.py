"""Migrations: run twice, by two at once, and with old and new code side by side."""

from __future__ import annotations

import multiprocessing
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tenure.core.errors import CodeTooOld, MigrationsPending, StoreError
from tenure.core.job import State
from tenure.stores import open_store
from tenure.stores.sql.migrations import Migration, Migrations, load, parse
from tenure.stores.sql.store import SqlStore, sql_store
from tenure.testing.conformance.actions import (
    add_job,
    at_once,
    cancel,
    claim_one,
    count_of,
    finished_job,
    settle_done,
    state_of,
)
from tenure.testing.conformance.promise import promise

NOW = load("tenure.stores.sqlite")[-1].version
ALL = list(range(1, NOW + 1))
EXPAND = parse(
    NOW + 1,
    "colour",
    f"-- serves: {NOW}\nALTER TABLE tenure_jobs ADD COLUMN colour VARCHAR(20) NULL;",
)
CONTRACT = parse(
    NOW + 2, "no_colour", f"-- serves: {NOW + 1}\nALTER TABLE tenure_jobs DROP COLUMN colour;"
)
BROKEN = parse(
    NOW + 1, "broken", f"-- serves: {NOW}\nALTER TABLE tenure_nothing ADD COLUMN x INTEGER;"
)


@pytest.fixture
def store(fresh_database_url: str) -> Iterator[SqlStore]:
    """On a database with nothing in it."""
    opened = sql_store(open_store(fresh_database_url, auto_migrate=False))
    yield opened
    opened.close()


def newer_code(store: SqlStore, *more: Migration) -> Migrations:
    """The migrations of a later version of this code."""
    return Migrations(store.database, [*store.migrations.all, *more])


def migrate_in_a_process(url: str, answers: multiprocessing.Queue[int]) -> None:
    store = sql_store(open_store(url, auto_migrate=False))
    answers.put(len(store.migrations.apply()))
    store.close()


def test_a_database_without_our_schema_says_what_to_run(store: SqlStore) -> None:
    with pytest.raises(MigrationsPending, match="run: tenure migrate"):
        store.now()


def test_migrations_run_once(store: SqlStore) -> None:
    assert [migration.version for migration in store.migrations.apply()] == ALL
    assert store.migrations.apply() == []
    assert state_of(store, add_job(store)) is State.QUEUED


def test_what_is_pending_is_known_before_it_runs(store: SqlStore) -> None:
    assert [migration.version for migration in store.migrations.pending()] == ALL
    store.migrations.apply()
    assert store.migrations.pending() == []


def test_a_dry_run_shows_the_sql_and_changes_nothing(store: SqlStore) -> None:
    script = store.migrations.script(store.migrations.pending())

    assert re.search(r"CREATE TABLE (IF NOT EXISTS )?tenure_jobs", script)
    assert len(store.migrations.pending()) == NOW


def test_migrating_again_keeps_the_jobs(store: SqlStore) -> None:
    store.migrations.apply()
    job_id = add_job(store)
    store.migrations.apply()

    assert state_of(store, job_id) is State.QUEUED


def test_two_threads_that_migrate_at_once_do_it_once(fresh_database_url: str) -> None:
    def migrate(number: int) -> int:
        store = sql_store(open_store(fresh_database_url, auto_migrate=False))
        try:
            return len(store.migrations.apply())
        finally:
            store.close()

    assert sorted(at_once(3, migrate), key=str) == [0, 0, NOW]


def test_threads_that_migrate_a_database_in_use_do_each_migration_once(
    store: SqlStore, fresh_database_url: str
) -> None:
    Migrations(store.database, store.migrations.all[:1]).apply()

    def migrate(number: int) -> list[int]:
        other = sql_store(open_store(fresh_database_url, auto_migrate=False))
        try:
            return [migration.version for migration in other.migrations.apply()]
        finally:
            other.close()

    answers = at_once(3, migrate)

    assert [answer for answer in answers if isinstance(answer, Exception)] == []
    done = [version for one in answers if isinstance(one, list) for version in one]
    assert sorted(done) == ALL[1:]
    assert state_of(store, add_job(store)) is State.QUEUED


def test_two_processes_that_migrate_at_once_do_it_once(fresh_database_url: str) -> None:
    spawn = multiprocessing.get_context("spawn")
    answers = spawn.Queue()
    both = [
        spawn.Process(target=migrate_in_a_process, args=(fresh_database_url, answers))
        for _ in range(2)
    ]
    for process in both:
        process.start()

    assert sorted(answers.get(timeout=60) for _ in both) == [0, NOW]
    for process in both:
        process.join(60)


@promise(13)
def test_old_code_goes_on_beside_a_schema_that_still_serves_it(store: SqlStore) -> None:
    store.migrations.apply()
    waiting = add_job(store)
    newer_code(store, EXPAND).apply()

    assert settle_done(store, claim_one(store)) == [waiting]
    assert cancel(store, add_job(store)).changed == 1
    assert count_of(store) == 2


@promise(13)
def test_old_code_starts_on_a_newer_schema_that_still_serves_it(
    store: SqlStore, fresh_database_url: str
) -> None:
    store.migrations.apply()
    newer_code(store, EXPAND).apply()
    old = sql_store(open_store(fresh_database_url, auto_migrate=False))

    assert state_of(old, finished_job(old)) is State.SUCCEEDED
    assert old.migrations.pending() == []
    old.close()


@promise(13)
def test_only_code_that_is_too_old_refuses(store: SqlStore, fresh_database_url: str) -> None:
    store.migrations.apply()
    newer_code(store, EXPAND, CONTRACT).apply()
    old = sql_store(open_store(fresh_database_url, auto_migrate=False))

    with pytest.raises(CodeTooOld, match="upgrade tenure"):
        old.now()
    old.close()


@promise(13)
def test_new_code_waits_for_its_schema(store: SqlStore) -> None:
    store.migrations.apply()
    store.migrations = newer_code(store, EXPAND)

    with pytest.raises(MigrationsPending, match=f"at version {NOW} and this code needs {NOW + 1}"):
        store.now()


def test_a_migration_that_stops_leaves_the_version_before_it(store: SqlStore) -> None:
    store.migrations.apply()

    with pytest.raises(StoreError, match=f"{NOW + 1:04}_broken stopped"):
        newer_code(store, BROKEN).apply()

    assert [m.version for m in newer_code(store, EXPAND).apply()] == [NOW + 1]
    assert state_of(store, add_job(store)) is State.QUEUED


def test_a_migration_must_say_whom_it_serves() -> None:
    with pytest.raises(StoreError, match="serves"):
        parse(7, "silent", "SELECT 1;")


def test_a_file_is_split_into_its_statements() -> None:
    found = parse(
        1, "x", "-- serves: 1\nCREATE TABLE a (\n    b INTEGER\n);\n-- why\nSELECT ';';\n"
    )

    assert found.statements == ["CREATE TABLE a (\n    b INTEGER\n)", "SELECT ';'"]


def test_a_comment_behind_a_statement_does_not_tie_it_to_the_next() -> None:
    found = parse(1, "x", "-- serves: 1\nSELECT 1;  -- why\n\nSELECT 2;\n")

    assert found.statements == ["SELECT 1", "SELECT 2"]


def test_a_migration_that_has_nothing_to_do_here_counts(store: SqlStore) -> None:
    store.migrations.apply()
    nothing = parse(NOW + 1, "elsewhere", f"-- Only other databases need it.\n-- serves: {NOW}\n")

    assert newer_code(store, nothing).apply() == [nothing]
    assert newer_code(store, nothing).apply() == []


@pytest.mark.parametrize("name", ["sqlite", "postgres", "mysql"])
def test_the_migrations_of_every_dialect_are_numbered_without_gaps(name: str) -> None:
    found = load(f"tenure.stores.{name}")

    assert [migration.version for migration in found] == list(range(1, len(found) + 1))
    assert [(m.version, m.name, m.serves) for m in found] == [
        (m.version, m.name, m.serves) for m in load("tenure.stores.sqlite")
    ]


def test_a_sqlite_file_is_migrated_by_many_openers_at_once(tmp_path: Path) -> None:
    def use(number: int) -> str:
        store = sql_store(open_store(f"sqlite:///{tmp_path}/new.db"))
        try:
            return add_job(store)
        finally:
            store.close()

    answers = at_once(6, use)

    assert [answer for answer in answers if isinstance(answer, Exception)] == []
    assert len(set(answers)) == 6
