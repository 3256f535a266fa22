"""Ties between jobs in a transaction that sees the past: right, or refused, never overlooked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import Connection

from tenure.core.job import NewJob, State
from tenure.core.lease import ClaimedJob
from tenure.core.settlement import Settlement
from tenure.stores import open_store
from tenure.stores.sql.store import SqlStore
from tenure.testing.conformance.actions import (
    add_job,
    add_jobs,
    claim_all,
    claim_ids,
    claim_one,
    settle_done,
)
from tests.support.databases import engine_for

# SQLite has one writer: there an old snapshot cannot write at all.
pytestmark = pytest.mark.parametrize("dialect", ["postgres", "mysql"], indirect=True)


@pytest.fixture
def store(database_url: str) -> Iterator[SqlStore]:
    opened = open_store(database_url)
    assert isinstance(opened, SqlStore)
    yield opened
    opened.close()


@pytest.fixture
def past(store: SqlStore, database_url: str) -> Iterator[Connection]:
    """Its snapshot is taken at its first question."""
    engine = engine_for(database_url).execution_options(isolation_level="REPEATABLE READ")
    with engine.connect() as connection:
        yield connection


def look(past: Connection) -> None:
    past.exec_driver_sql("SELECT count(*) FROM tenure_jobs, tenure_after").all()


def commit_or_refused(past: Connection, action: Callable[[], Any]) -> bool:
    """Whether the caller's transaction went through; PostgreSQL refuses what it cannot see."""
    try:
        action()
        past.commit()
    except Exception as error:
        past.rollback()
        assert "serialize" in str(error), error
        return False
    return True


def end(store: SqlStore, job: ClaimedJob, past: Connection) -> None:
    done = Settlement(lease=job.lease, state=State.SUCCEEDED)
    assert store.jobs.settle([done], tx=past) == {job.id}


def test_one_that_ended_after_the_snapshot_holds_nobody(store: SqlStore, past: Connection) -> None:
    first = add_job(store)
    job = claim_one(store)
    look(past)
    settle_done(store, job)
    added: list[str] = []

    def add() -> None:
        added.append(store.jobs.add([NewJob(kind="work", after=(first,))], tx=past)[0].id)

    if commit_or_refused(past, add):
        assert claim_ids(store) == added


def test_one_that_came_after_the_snapshot_is_not_overlooked(
    store: SqlStore, past: Connection
) -> None:
    first = add_job(store)
    job = claim_one(store)
    look(past)
    last = add_job(store, after=(first,))

    if not commit_or_refused(past, lambda: end(store, job, past)):
        settle_done(store, job)
    assert claim_ids(store) == [last]


def test_a_second_one_that_came_after_the_snapshot_is_not_overlooked(
    store: SqlStore, past: Connection
) -> None:
    first = add_job(store)
    job = claim_one(store)
    before = add_job(store, after=(first,))
    look(past)
    last = add_job(store, after=(first,))

    if not commit_or_refused(past, lambda: end(store, job, past)):
        settle_done(store, job)
    assert sorted(claim_ids(store)) == sorted([before, last])


def test_another_end_after_the_snapshot_is_not_overlooked(
    store: SqlStore, past: Connection
) -> None:
    last = add_job(store, after=tuple(add_jobs(store, 2)))
    one, other = claim_all(store)
    look(past)
    settle_done(store, one)

    if not commit_or_refused(past, lambda: end(store, other, past)):
        settle_done(store, other)
    assert claim_ids(store) == [last]


def test_the_next_of_a_key_that_came_after_the_snapshot_is_not_overlooked(
    store: SqlStore, past: Connection
) -> None:
    add_job(store, ordering_key="k")
    job = claim_one(store)
    look(past)
    behind = add_job(store, ordering_key="k")

    if not commit_or_refused(past, lambda: end(store, job, past)):
        settle_done(store, job)
    assert claim_ids(store) == [behind]


def test_a_head_that_ended_after_the_snapshot_stops_nobody(
    store: SqlStore, past: Connection
) -> None:
    first = add_job(store, ordering_key="k")
    job = claim_one(store)
    look(past)
    settle_done(store, job)
    added: list[str] = []

    def add() -> None:
        added.append(store.jobs.add([NewJob(kind="work", ordering_key="k")], tx=past)[0].id)

    if not commit_or_refused(past, add):
        added = [add_job(store, ordering_key="k")]
    assert claim_ids(store) == added
    assert first not in added


def test_a_head_that_came_after_the_snapshot_is_waited_for(
    store: SqlStore, past: Connection
) -> None:
    look(past)
    head = add_job(store, ordering_key="k")

    def add() -> None:
        store.jobs.add([NewJob(kind="work", ordering_key="k")], tx=past)

    commit_or_refused(past, add)
    assert claim_ids(store) == [head]


def test_who_is_called_off_lets_the_next_of_its_key_go(store: SqlStore, past: Connection) -> None:
    """All of it came after the snapshot: the one that waits, and the one behind it."""
    first = add_job(store)
    job = claim_one(store)
    look(past)
    add_job(store, after=(first,), ordering_key="k")
    behind = add_job(store, ordering_key="k")
    failed = Settlement(lease=job.lease, state=State.FAILED)

    def fail() -> None:
        assert store.jobs.settle([failed], tx=past) == {job.id}

    if not commit_or_refused(past, fail):
        assert store.jobs.settle([failed]) == {job.id}
    assert claim_ids(store) == [behind]


def test_a_transaction_that_is_older_than_a_job_cannot_settle_it(
    store: SqlStore, past: Connection
) -> None:
    look(past)
    add_job(store, ordering_key="k")
    behind = add_job(store, ordering_key="k")
    job = claim_one(store)

    done = Settlement(lease=job.lease, state=State.SUCCEEDED)
    assert store.jobs.settle([done], tx=past) == frozenset()
    past.rollback()

    assert settle_done(store, job) == [job.id]
    assert claim_ids(store) == [behind]
