"""A feature that follows the endings of jobs, with workers and operators at work."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tenure import (
    NO_RETRY,
    Cancel,
    Change,
    Delays,
    Fail,
    JobFilter,
    Move,
    NotFound,
    RunningJob,
    Settings,
    Skip,
    Snooze,
    State,
    Tenure,
    Worker,
)
from tenure.core.endings import EndingFailed, FeatureNeeded
from tenure.core.job import FINAL_STATES
from tenure.core.settlement import Settlement
from tenure.feature import Feature, FeatureError, Level
from tenure.testing.conformance.actions import add_job, claim_one
from tenure.testing.conformance.endings_table import ENDING
from tenure.watch.doctor.checks import followed
from tests.features.tally import KIND, Tally
from tests.stores.test_foreign_transaction import connected
from tests.support.distributions import forget, install
from tests.support.until import until

ENDS: dict[str, Any] = {
    "fail": Fail("no"), "skip": Skip(), "none": NotFound("gone"), "stop": Cancel("enough"),
}  # fmt: skip


@pytest.fixture
def app(fresh_database_url: str) -> Iterator[Tenure]:
    made = Tenure(fresh_database_url, settings=Settings(auto_migrate=True), features=())
    yield made
    made.close()


@pytest.fixture
def tally(app: Tenure) -> Tally:
    feature = Tally(app)
    app.include(feature)

    @app.job(KIND, retry=NO_RETRY)
    def item(job: RunningJob, end: str = "done") -> str | None:
        if end == "snooze" and job.claimed.snoozes == 0:
            raise Snooze(0)
        if end == "settle":
            with job.settle():
                pass
        if end == "oops":
            raise ValueError(end)
        if end in ENDS:
            raise ENDS[end]
        return end if end == "result" else None

    @app.job("plain")
    def plain(job: RunningJob) -> None: ...

    return feature


def stored(app: Tenure) -> dict[State, int]:
    found = app.insight.counts(JobFilter(kinds=(KIND,)))
    return {state: jobs for state, jobs in found.items() if state.final and jobs}


def test_counters_are_exact_whatever_workers_and_operators_do(app: Tenure, tally: Tally) -> None:
    words = ["done", "result", "fail", "skip", "none", "stop", "oops", "snooze", "settle"]
    app.enqueue_many([app.new(KIND, {"end": word}) for word in words * 12])
    app.enqueue_many([app.new("plain") for _ in range(50)])
    with Worker(app, concurrency=20):
        until(lambda: sum(stored(app).values()) == len(words) * 12)
    assert tally.counts() == stored(app)
    assert tally.counts()[State.SUCCEEDED] == 12 * 4

    operator = app.operator
    operator.move_all(JobFilter(kinds=(KIND,), states=(State.DEAD,)), Change(move=Move.CANCEL))
    assert tally.counts() == stored(app)
    operator.move_all(JobFilter(kinds=(KIND,), states=(State.FAILED,)), Change(move=Move.RETRY))
    assert tally.counts() == stored(app)
    assert State.FAILED not in tally.counts()
    operator.move_all(JobFilter(kinds=(KIND,), states=(State.QUEUED,)), Change(move=Move.CANCEL))
    assert tally.counts() == stored(app)
    operator.purge(JobFilter(kinds=(KIND,), states=FINAL_STATES), app.store.now() + timedelta(1))
    assert tally.counts() == stored(app) == {}


def test_a_feature_that_fails_delays_its_own_jobs_only(app: Tenure, tally: Tally) -> None:
    tally.broken = True
    told, runs = list[str](), list[str]()
    app.signals.subscribe(lambda name, facts: told.append(str(facts["error"])), "settle.failed")
    app.signals.subscribe(lambda name, facts: runs.append(name), "job.settle_refused")
    refs = app.enqueue_many([app.new(KIND, {"end": "result"}) for _ in range(5)])
    with Worker(app, concurrency=20):
        until(lambda: any("'tally' failed" in one for one in told))
        others = app.enqueue_many([app.new("plain") for _ in range(20)])
        assert {app.wait(ref, 20).state for ref in others} == {State.SUCCEEDED}
        assert {app.get(ref).state for ref in refs} == {State.RUNNING}
        assert tally.counts() == {}

        tally.broken = False
        jobs = [app.wait(ref, 30) for ref in refs]
    assert [(job.state, job.result, job.attempt) for job in jobs] == [
        (State.SUCCEEDED, "result", 1)
    ] * 5
    assert tally.counts() == {State.SUCCEEDED: 5}
    assert runs == []


def test_a_block_whose_feature_fails_writes_nothing(app: Tenure, tally: Tally) -> None:
    done = threading.Event()
    errors = list[BaseException]()

    @app.job("tally.block", retry=NO_RETRY)
    def block(job: RunningJob) -> None:
        try:
            with job.settle() as tx:
                tx.enqueue("plain")
        except EndingFailed as error:
            errors.append(error)
            raise Fail("the feature failed") from error
        finally:
            done.set()

    tally.on_ending("tally.block", tally._moved)
    tally.broken = True
    job = app.enqueue("tally.block")
    with Worker(app):
        assert done.wait(20)
        tally.broken = False
        assert app.wait(job, 30).state is State.FAILED
    assert len(errors) == 1
    assert app.insight.counts(JobFilter(kinds=("plain",))) == {}
    assert tally.counts() == {State.FAILED: 1}


def test_an_ending_in_the_callers_transaction_goes_with_it(
    app: Tenure, tally: Tally, fresh_database_url: str, record_property: Any
) -> None:
    record_property(ENDING, ("in a connection of yours", app.store.name))
    add_job(app.store, KIND)
    item = Settlement(claim_one(app.store, kinds=(KIND,)).lease, State.SUCCEEDED)
    with connected(fresh_database_url) as mine:
        app.store.jobs.settle([item], tx=mine)
        mine.rollback()
        assert (tally.counts(), stored(app)) == ({}, {})
        app.store.jobs.settle([item], tx=mine)
        mine.commit()
    assert tally.counts() == stored(app) == {State.SUCCEEDED: 1}


@pytest.mark.parametrize("dialect", ["postgres"], indirect=True)
def test_an_ending_in_an_async_transaction_goes_with_it(
    app: Tenure, tally: Tally, fresh_database_url: str
) -> None:
    add_job(app.store, KIND)
    item = Settlement(claim_one(app.store, kinds=(KIND,)).lease, State.FAILED, entry="failed")

    async def end(*, commit: bool) -> None:
        connection = await psycopg.AsyncConnection.connect(fresh_database_url)
        try:
            assert await app.store.jobs.settle_async([item], connection)
            await (connection.commit() if commit else connection.rollback())
        finally:
            await connection.close()

    asyncio.run(end(commit=False))
    assert (tally.counts(), stored(app)) == ({}, {})
    asyncio.run(end(commit=True))
    assert tally.counts() == stored(app) == {State.FAILED: 1}


def test_a_failing_feature_costs_a_settle_block_an_attempt_and_not_the_job(app: Tenure) -> None:
    tally = Tally(app)
    app.include(tally)

    @app.job(KIND, retry=Delays(0))
    def item(job: RunningJob) -> None:
        tally.broken = job.attempt == 1
        try:
            with job.settle():
                pass
        finally:
            tally.broken = False

    ref = item.enqueue()
    Worker(app).run_until_idle()

    assert [line.entry for line in app.insight.history(ref.job())] == ["error", "succeeded"]
    assert tally.counts() == {State.SUCCEEDED: 1}


def test_an_app_without_the_feature_is_told_which_one_it_needs(
    app: Tenure, tally: Tally, fresh_database_url: str
) -> None:
    waiting = app.enqueue(KIND)
    with Worker(app):
        done = app.wait(app.enqueue(KIND, {"end": "fail"}), 20)
        app.wait(waiting, 20)
    waiting = app.enqueue(KIND)
    bare = Tenure(fresh_database_url, features=())
    left = list[dict[str, Any]]()
    bare.signals.subscribe(lambda name, facts: left.append(dict(facts)), "kind.left")

    @bare.job(KIND)
    def item(job: RunningJob) -> None:
        raise AssertionError("a worker without the feature begins no job that it cannot end")

    with pytest.raises(FeatureNeeded, match=r"the feature 'tally' follows .* 'tally.item'"):
        bare.cancel(waiting)
    with pytest.raises(FeatureNeeded):
        bare.retry(done.id)
    with pytest.raises(FeatureNeeded, match=r"tally\.item"):
        bare.operator.purge(JobFilter(kinds=(KIND,)), bare.store.now() + timedelta(1))
    with Worker(bare):
        until(lambda: left)
    assert left == [{"kind": KIND, "features": ["tally"]}]
    assert bare.get(waiting).state is State.QUEUED
    assert sum(stored(app).values()) == 2
    bare.close()


class Curious(Feature):
    """Follows what it is told to."""

    name = "curious"


@pytest.mark.parametrize(
    ("kinds", "plan", "told"),
    [
        ((), lambda jobs: iter(()), "follows no kind"),
        (("",), lambda jobs: iter(()), "name a kind"),
        ("*", lambda jobs: iter(()), "follows every kind"),
        ("a", None, "use a generator function"),
    ],
)
def test_what_cannot_be_followed_is_refused_at_once(
    tmp_path: Path, kinds: Any, plan: Any, told: str
) -> None:
    feature = Curious(Tenure(f"sqlite:///{tmp_path / 'jobs.db'}"))

    with pytest.raises(FeatureError, match=told):
        feature.on_ending(kinds, plan)


def test_doctor_names_kinds_that_no_live_worker_can_end(
    app: Tenure, tally: Tally, fresh_database_url: str
) -> None:
    app.store.endings.publish()
    bare = Tenure(fresh_database_url, features=())
    bare.job("plain")(lambda job: None)
    with Worker(app):
        until(lambda: app.insight.workers())
        assert list(followed(app)) == []
    with Worker(bare):
        until(lambda: bare.insight.workers())
        [finding] = followed(bare)
    assert finding.level is Level.WARNING
    assert finding.fact == "'tally.item' jobs cannot end: no live worker has the feature 'tally'"
    bare.close()


def test_an_installed_feature_is_loaded_when_a_move_needs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path / 'jobs.db'}"
    installed = tmp_path / "site"
    monkeypatch.syspath_prepend(str(installed))
    install(installed, "tally", "tally = tests.features.tally:Tally")
    try:
        first = Tenure(url, features=("tally",))
        first.features.load()
        job = first.enqueue(KIND)
        first.close()

        second = Tenure(url, features=("tally",))
        assert second.cancel(job.id).state is State.CANCELED
        assert Tally.of(second).counts() == {State.CANCELED: 1}
        second.close()
    finally:
        forget()
