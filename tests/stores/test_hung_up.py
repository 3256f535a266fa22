"""Connections that PostgreSQL ends: while they rest, and in the middle of a statement."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import psycopg
import pytest

from tenure.core.errors import CommitUnknown
from tenure.core.filter import JobFilter
from tenure.core.job import NewJob
from tenure.stores import open_store
from tenure.stores.sql.store import SqlStore, sql_store
from tests.support.until import until

pytestmark = pytest.mark.parametrize("dialect", ["postgres"], indirect=True)

OTHERS = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
Admin = psycopg.Connection[tuple[int]]


@pytest.fixture
def store(database_url: str) -> Iterator[SqlStore]:
    opened = sql_store(open_store(database_url))
    opened.now()
    yield opened
    opened.close()


@pytest.fixture
def admin(database_url: str) -> Iterator[Admin]:
    with psycopg.connect(database_url, autocommit=True) as connection:
        yield connection


def hang_up(admin: Admin, which: str = "") -> None:
    """End the others, and see them gone."""
    ours = f"SELECT pid {OTHERS} AND application_name = 'tenure' {which}"
    pids = [row[0] for row in until(lambda: admin.execute(ours).fetchall())]
    for pid in pids:
        admin.execute("SELECT pg_terminate_backend(%s)", (pid,))
    left = "SELECT 1 FROM pg_stat_activity WHERE pid = ANY(%s)"
    until(lambda: not admin.execute(left, (pids,)).fetchall())


def test_one_that_ended_at_rest_costs_no_enqueue(store: SqlStore, admin: Admin) -> None:
    store.jobs.add([NewJob(kind="a")])
    hang_up(admin)

    store.jobs.add([NewJob(kind="a")])
    assert sum(store.jobs.count(JobFilter()).values()) == 2


def test_one_that_breaks_at_its_statement_may_have_done_it(
    store: SqlStore, admin: Admin, database_url: str
) -> None:
    raised: list[Exception] = []

    def enqueue() -> None:
        try:
            store.jobs.add([NewJob(kind="a")])
        except CommitUnknown as error:
            raised.append(error)

    with psycopg.connect(database_url) as other:
        other.execute("LOCK TABLE tenure_jobs")
        waiting = threading.Thread(target=enqueue)
        waiting.start()
        hang_up(admin, "AND wait_event_type = 'Lock'")
        waiting.join(20)

    assert "may have happened" in str(raised[0])
