"""Who waits for whom: a transaction that is held open keeps nobody from another job."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from typing import TypeVar

import pytest

from tenure.core.job import NewJob, State
from tenure.core.settlement import Settlement
from tenure.stores.contract import ClaimRequest, Extension, LogLine, Report, Written
from tenure.stores.sql.store import SqlStore
from tenure.testing.conformance.actions import (
    OOPS,
    add_jobs,
    claim_all,
    claim_until,
    job_of,
    start_job,
)
from tests.stores.test_foreign_transaction import connect

T = TypeVar("T")
SERVERS = pytest.mark.parametrize("dialect", ["postgres", "mysql"], indirect=True)
MYSQL = pytest.mark.parametrize("dialect", ["mysql"], indirect=True)
SQLITE = pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
pytestmark = pytest.mark.parametrize("clock", ["real_clock"], indirect=True)
ANALYZE = {"postgres": "ANALYZE tenure_jobs", "mysql": "ANALYZE TABLE tenure_jobs"}
PATIENCE_SECONDS = 5.0


@contextmanager
def settled_but_open(store: SqlStore, settlement: Settlement) -> Iterator[None]:
    """A transaction that has settled the job and is not over yet."""
    with store.transaction() as tx:
        store.jobs.settle([settlement], tx=tx)
        yield


def without_waiting(action: Callable[[], T]) -> T:
    """What it answers, which must come while others still hold their locks."""
    pool = ThreadPoolExecutor(1)
    try:
        return pool.submit(action).result(timeout=PATIENCE_SECONDS)
    finally:
        pool.shutdown(wait=False)


def opened(url: str) -> closing[sqlite3.Connection]:
    """A caller's own connection to the file."""
    return closing(sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None))


@SERVERS
def test_settling_a_job_does_not_wait_for_another_one(
    store: SqlStore, database_url: str, dialect: str
) -> None:
    add_jobs(store, 3)
    first, second, third = claim_all(store)
    with closing(connect(database_url)) as connection:  # the planner knows: three rows, scan them
        connection.cursor().execute(ANALYZE[dialect])
        connection.commit()
    done = Settlement(lease=second.lease, state=State.SUCCEEDED)
    broken = Settlement(lease=third.lease, state=State.FAILED, entry="failed", failure=OOPS)

    with settled_but_open(store, Settlement(lease=first.lease, state=State.SUCCEEDED)):
        news = [Report(lease=third.lease, progress=0.5)]
        assert without_waiting(lambda: store.jobs.extend([third.lease], 60)) == Extension()
        assert without_waiting(lambda: store.jobs.report(news)) == frozenset()
        assert without_waiting(lambda: store.jobs.settle([done])) == {second.id}
        assert without_waiting(lambda: store.jobs.settle([broken])) == {third.id}


@SERVERS
def test_a_report_does_not_wait_for_its_own_settlement(store: SqlStore) -> None:
    add_jobs(store, 2)
    first, second = claim_all(store)
    news = [Report(lease=job.lease, progress=0.5, lines=[LogLine("x")]) for job in (first, second)]

    with settled_but_open(store, Settlement(lease=first.lease, state=State.SUCCEEDED)):
        assert without_waiting(lambda: store.jobs.report(news)) == frozenset()

    assert (job_of(store, first.id).progress, job_of(store, second.id).progress) == (None, 0.5)
    # Lines are rows of their own, and the lease held when they were said.
    assert (len(store.jobs.logs(first.id)), len(store.jobs.logs(second.id))) == (1, 1)
    assert store.jobs.report(news[:1]) == {first.id}


@SQLITE
def test_a_file_that_was_kept_for_long_costs_nobody_a_lease(
    store: SqlStore, database_url: str
) -> None:
    job = start_job(store, seconds=0.6)
    with opened(database_url) as foreign, ThreadPoolExecutor() as pool:
        foreign.execute("BEGIN IMMEDIATE")
        request = ClaimRequest(
            owner="other", kinds=["work"], slots={"default": 10}, lease_seconds=60
        )
        claiming = pool.submit(store.jobs.claim, request)
        until = job_of(store, job.id).lease_until
        assert until is not None
        while store.now() <= until:
            time.sleep(0.01)
        foreign.execute("COMMIT")

        assert claiming.result().jobs == []
    assert store.jobs.extend([job.lease], 0.1) == Extension()
    claim_until(store, lambda: job_of(store, job.id).fence == 2)


@SERVERS
def test_an_exchange_settles_what_nobody_else_has_locked(store: SqlStore) -> None:
    add_jobs(store, 3)
    kept, free, stale = claim_all(store)
    assert store.jobs.settle([Settlement(lease=stale.lease, state=State.SUCCEEDED)])
    items = [Settlement(lease=job.lease, state=State.SUCCEEDED) for job in (kept, free, stale)]
    with store.transaction() as tx:
        store.jobs.add([NewJob(kind="work", after=(kept.id,))], tx=tx)

        written, _ = without_waiting(lambda: store.jobs.exchange(items, [], None))
        assert written == Written(frozenset([free.id]), frozenset([kept.id]))
        again, _ = without_waiting(lambda: store.jobs.exchange(items[:1], [], None, careful=True))
        assert again == Written(locked=frozenset([kept.id]))

    assert store.jobs.exchange(items[:1], [], None, careful=True)[0].applied == {kept.id}
    assert [job.state for job in map(partial(job_of, store), (kept.id, free.id))] == [
        State.SUCCEEDED
    ] * 2


@MYSQL
def test_a_settlement_that_is_locked_does_not_delay_the_claim_that_carries_it(
    store: SqlStore,
) -> None:
    job = start_job(store, ordering_key="k")
    add_jobs(store, 2)
    request = ClaimRequest(owner="w", kinds=["work"], slots={"default": 10}, lease_seconds=60)
    done = Settlement(lease=job.lease, state=State.SUCCEEDED)
    with store.transaction() as tx:
        store.jobs.add([NewJob(kind="work", ordering_key="k")], tx=tx)

        written, claim = without_waiting(lambda: store.jobs.exchange([done], [], request))

    assert written == Written(locked=frozenset([job.id]))
    assert len(claim.jobs) == 2
