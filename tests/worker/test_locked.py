"""A transaction that somebody keeps open delays nothing but what it has locked."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tenure import NO_RETRY, JobRef, RunningJob, Settings, State, Tenure, Worker
from tenure.core.filter import JobFilter
from tenure.stores.contract import Report
from tenure.testing.conformance.actions import claim_all
from tests.stores.test_foreign_transaction import connected
from tests.support.until import until

pytestmark = pytest.mark.parametrize("dialect", ["postgres", "mysql"], indirect=True)
PATIENCE_SECONDS = 5.0
Lock = Callable[[Tenure, JobRef, Any], JobRef]


@pytest.fixture
def app(database_url: str) -> Iterator[Tenure]:
    made = Tenure(database_url, settings=Settings(lease_seconds=30))
    made.job("plain")(lambda job: "done")
    yield made
    made.close()


@contextmanager
def kept_open(url: str) -> Iterator[Any]:
    """A caller's connection. At REPEATABLE READ MySQL would lock the gaps between rows too, and
    keep everybody from adding there.
    """
    with connected(url) as connection:
        if url.startswith("mysql"):
            connection.cursor().execute("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
        yield connection


def by_order(app: Tenure, job: JobRef, tx: Any) -> JobRef:
    return app.enqueue("order", ordering_key="k", tx=tx)


def by_after(app: Tenure, job: JobRef, tx: Any) -> JobRef:
    return app.enqueue("plain", after=[job.id], tx=tx)


def by_key(app: Tenure, job: JobRef, tx: Any) -> JobRef:
    """MySQL locks the gap before a repeated key too; `plain` comes after it."""
    return app.enqueue("order", key="kk", tx=tx)


def by_dependent(app: Tenure, job: JobRef, tx: Any) -> JobRef:
    """Locks a job that waits for this one."""
    waiting = app.insight.page(JobFilter(kinds=("waits",))).rows[0]
    return app.enqueue("plain", after=[waiting.id], tx=tx)


class Slow:
    """A job whose handler returns when it is told to; other jobs go on beside it."""

    def __init__(self, app: Tenure) -> None:
        self.begun, self.go, self.runs = threading.Event(), threading.Event(), list[int]()
        app.job("order", retry=NO_RETRY)(self.run)
        app.job("waits")(lambda job: None)

    def run(self, job: RunningJob) -> str:
        self.runs.append(job.attempt)
        self.begun.set()
        self.go.wait(60)
        return "paid"


def run_plain_jobs(app: Tenure, number: int = 3) -> None:
    """One after the other, each within the time that nobody would mind."""
    for _ in range(number):
        assert app.wait(app.enqueue("plain"), PATIENCE_SECONDS).state is State.SUCCEEDED


@pytest.mark.parametrize("lock", [by_order, by_after, by_key, by_dependent])
def test_unrelated_jobs_are_settled_while_a_transaction_is_open(
    app: Tenure, database_url: str, dialect: str, lock: Lock
) -> None:
    slow = Slow(app)
    job = app.enqueue("order", ordering_key="k", key="kk")
    app.enqueue("waits", after=[job.id])
    with Worker(app, concurrency=10), kept_open(database_url) as connection:
        assert slow.begun.wait(20)
        lock(app, job, connection)
        slow.go.set()
        run_plain_jobs(app)
        if (dialect, lock) != ("postgres", by_key):  # there a repeated key locks nothing
            assert app.get(job).state is State.RUNNING
        connection.commit()

        assert app.wait(job, 20).result == "paid"
    assert slow.runs[0] == 1
    assert app.insight.history(app.get(job))[-1].entry == "succeeded"


def test_a_lock_that_outlasts_every_timeout_costs_no_result(app: Tenure, database_url: str) -> None:
    slow, tried = Slow(app), list[str]()
    app.store.measure(lambda name, seconds: tried.append(name))
    job = app.enqueue("order")
    with Worker(app), kept_open(database_url) as connection:
        assert slow.begun.wait(20)
        by_after(app, job, connection)
        slow.go.set()
        until(lambda: tried.count("lock_free") > 12)  # more often than a transaction is repeated
        connection.rollback()

        assert app.wait(job, 20).result == "paid"
    assert (slow.runs, app.get(job).attempt) == ([1], 1)


def test_many_settlements_wait_and_the_others_go_on(app: Tenure, database_url: str) -> None:
    slow = Slow(app)
    jobs = [app.enqueue("order", ordering_key=f"k{n}") for n in range(60)]
    with Worker(app, concurrency=80), kept_open(database_url) as connection:
        until(lambda: len(slow.runs) == 60)
        for n in range(60):
            app.enqueue("plain", ordering_key=f"k{n}", tx=connection)
        slow.go.set()
        run_plain_jobs(app)
        assert {app.get(job).state for job in jobs} == {State.RUNNING}
        connection.commit()

        assert {app.wait(job, 20).result for job in jobs} == {"paid"}


def test_leases_are_renewed_while_a_settlement_waits(database_url: str) -> None:
    app = Tenure(database_url, settings=Settings(lease_seconds=30, renew_seconds=0.2))
    slow, runs = Slow(app), list[int]()
    done = threading.Event()

    @app.job("long")
    def long(job: RunningJob) -> None:
        runs.append(job.attempt)
        done.wait(60)

    job, beside = app.enqueue("order", ordering_key="k"), app.enqueue("long")
    with Worker(app), kept_open(database_url) as connection:
        assert slow.begun.wait(20)
        until(lambda: runs)
        by_order(app, job, connection)
        slow.go.set()
        lease = app.get(beside).lease_until
        until(lambda: app.get(beside).lease_until != lease)
        assert app.get(job).state is State.RUNNING
        connection.commit()
        done.set()
        assert app.wait(job, 20).result == "paid"
        app.wait(beside, 20)
    assert (slow.runs[0], runs) == (1, [1])
    app.close()


def test_a_job_that_expired_under_a_locked_key_delays_no_claim(
    app: Tenure, database_url: str
) -> None:
    slow = Slow(app)
    slow.go.set()
    with kept_open(database_url) as connection:
        late = app.enqueue("order", ordering_key="k", expires=0.01)
        other = app.enqueue("order", ordering_key="other", expires=0.01)
        behind = by_order(app, late, connection)
        until(lambda: app.get(late).expires_at < app.store.now())  # type: ignore[operator]
        with Worker(app):
            run_plain_jobs(app)
            until(lambda: app.get(other).state is State.CANCELED)
            assert app.get(late).state is State.QUEUED
            connection.commit()

            until(lambda: app.get(late).state is State.CANCELED)
            assert app.wait(behind, 20).result == "paid"
    assert app.get(late).reason == "expired"


def test_a_dead_workers_last_attempt_under_a_locked_key_delays_no_claim(
    app: Tenure, database_url: str
) -> None:
    Slow(app)
    job = app.enqueue("order", ordering_key="k")
    assert len(claim_all(app.store, kinds=["order"], lease_seconds=0.05)) == 1
    until(lambda: app.get(job).lease_until < app.store.now())  # type: ignore[operator]
    [again] = claim_all(app.store, kinds=["order"], lease_seconds=0.05)
    app.store.jobs.report([Report(lease=again.lease, begun_ago=0.0, alone=True)])
    with kept_open(database_url) as connection:
        by_order(app, job, connection)
        until(lambda: app.get(job).lease_until < app.store.now())  # type: ignore[operator]
        with Worker(app):
            run_plain_jobs(app)
            assert app.get(job).state is State.RUNNING
            connection.commit()

            until(lambda: app.get(job).state is State.DEAD)
    assert app.get(job).reason == "worker_crashed"
