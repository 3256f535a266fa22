"""Jobs claimed ahead: what cannot begin soon goes back, and rules hold for what begins."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from tenure import Limit, RunningJob, Settings, State, Tenure, Worker
from tenure.core.filter import JobFilter
from tests.support.databases import Databases
from tests.support.until import until

SLOTS, QUICK = 10, 500
SLOW = JobFilter(kinds=("slow",), states=(State.RUNNING,))


@pytest.fixture
def app(databases: Databases, tmp_path: Path) -> Iterator[Tenure]:
    made = Tenure(databases.empty(tmp_path), settings=Settings(auto_migrate=True))
    yield made
    made.close()


@pytest.fixture
def full(app: Tenure) -> Iterator[threading.Event]:
    """A worker that has learnt that its handlers are quick, and now has ten slow ones."""
    end = threading.Event()

    @app.job("quick")
    async def quick(job: RunningJob) -> None: ...

    @app.job("slow")
    async def slow(job: RunningJob) -> None:
        while not end.is_set():
            await asyncio.sleep(0.01)

    app.enqueue_many([app.new("quick") for _ in range(QUICK)])
    with Worker(app, concurrency=SLOTS):
        until(lambda: app.insight.counts().get(State.SUCCEEDED) == QUICK)
        app.enqueue_many([app.new("slow") for _ in range(SLOTS)])
        until(lambda: len(long_running(app)) == SLOTS)
        try:
            yield end
        finally:
            end.set()


def long_running(app: Tenure) -> list[str]:
    """Those whose worker must have noticed by now that they are slow."""
    edge = app.store.now() - timedelta(seconds=0.5)
    jobs = app.insight.page(SLOW).rows
    return [job.id for job in jobs if job.started_at and job.started_at < edge]


def test_short_jobs_do_not_wait_behind_slow_ones_while_another_worker_is_idle(
    app: Tenure, full: threading.Event
) -> None:
    refs = app.enqueue_many([app.new("quick") for _ in range(400)])

    with Worker(app, concurrency=SLOTS):
        until(lambda: app.get(refs[-1]).state is State.SUCCEEDED)

        assert not full.is_set()
        assert {app.get(ref).state for ref in refs} == {State.SUCCEEDED}


def test_a_full_worker_holds_nothing_for_long(app: Tenure, full: threading.Event) -> None:
    refs = app.enqueue_many([app.new("quick") for _ in range(50)])

    def waits(ref_job: str) -> bool:
        job = app.get(ref_job)
        return (job.state, job.attempt, job.reserved) == (State.QUEUED, 0, False)

    until(lambda: all(waits(ref.id) for ref in refs))
    assert app.insight.why(app.get(refs[0])).code in ("next", "behind")


def test_a_job_that_has_not_begun_is_cancelled_at_once(app: Tenure, full: threading.Event) -> None:
    ref = app.enqueue("quick")
    app.cancel(ref)

    until(lambda: app.get(ref).state is State.CANCELED)
    assert not full.is_set()


def test_a_job_does_not_begin_after_it_expired(app: Tenure, full: threading.Event) -> None:
    ref = app.enqueue("quick", expires=0.3)
    until(lambda: app.get(ref).state is State.CANCELED)

    assert app.get(ref).reason == "expired"
    assert not full.is_set()


def test_a_rate_is_kept_by_what_begins(databases: Databases, tmp_path: Path) -> None:
    """A burst of five and five a second, beside quick jobs that are claimed ahead."""
    app = Tenure(databases.empty(tmp_path), settings=Settings(auto_migrate=True))
    began: list[float] = []

    @app.job("quick")
    async def quick(job: RunningJob) -> None: ...

    @app.job("limited", limit=Limit(rate=5, burst=5))
    async def limited(job: RunningJob) -> None:
        began.append(time.monotonic())

    app.enqueue_many([app.new("quick") for _ in range(QUICK)])
    with Worker(app, concurrency=SLOTS):
        until(lambda: app.insight.counts().get(State.SUCCEEDED) == QUICK)
        app.enqueue_many([app.new("limited") for _ in range(15)])
        until(lambda: len(began) == 15)
    app.close()

    most = max(sum(first <= other < first + 1.0 for other in began) for first in began)
    assert most <= 5 + 5 + 1
