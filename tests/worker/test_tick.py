"""One tick: runners in order, budgets that stop, one failure that stops nobody else."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest

from tenure import OptionError, RunningJob, State, Tenure, Worker
from tenure.core.timing.budget import Budget
from tenure.worker.settings import WorkerSettings
from tenure.worker.shutdown import STOP_GRACE


class Counting:
    """A runner that notes when it ran."""

    def __init__(self, name: str, log: list[str], done: int = 1) -> None:
        self.name, self._log, self._done = name, log, done

    def run(self, budget: Budget) -> int:
        self._log.append(self.name)
        return self._done


class Failing:
    name = "failing"

    def run(self, budget: Budget) -> int:
        raise ValueError("this runner is broken")


class Feature:
    """What `include` takes."""

    def __init__(self, *runners: Any) -> None:
        self.handlers: list[Any] = []
        self.runners = runners


@pytest.fixture
def worked(app: Tenure) -> Tenure:
    @app.job("x")
    async def handler(job: RunningJob) -> None:
        await asyncio.sleep(0)

    app.enqueue_many([handler.new() for _ in range(30)])
    return app


def test_a_tick_runs_every_registered_runner_in_order(worked: Tenure) -> None:
    log: list[str] = []
    worked.include(Feature(Counting("first", log, 2), Counting("second", log, 3)))

    report = Worker(worked).tick()

    names = [one.name for one in report.runners]
    assert names == ["schedules", "jobs", "first", "second", "pruning"]
    assert log == ["first", "second"]
    assert report.processed == 30 + 5
    assert worked.insight.counts() == {State.SUCCEEDED: 30}


def test_the_setting_names_the_runners_and_their_order(worked: Tenure) -> None:
    log: list[str] = []
    worked.include(Feature(Counting("first", log), Counting("second", log)))

    Worker(worked, settings=WorkerSettings(tick_runners=("second", "first"))).tick()

    assert log == ["second", "first"]
    assert worked.insight.counts() == {State.QUEUED: 30}


def test_a_runner_that_is_not_registered_is_named(worked: Tenure) -> None:
    with pytest.raises(OptionError, match=r"'outbox'.*registered are: schedules, jobs"):
        Worker(worked, settings=WorkerSettings(tick_runners=("outbox",))).tick()


def test_one_failing_runner_stops_nobody_else(worked: Tenure) -> None:
    log: list[str] = []
    worked.include(Feature(Failing(), Counting("after", log)))

    report = Worker(worked).tick()

    assert log == ["after"]
    assert report.failed
    assert report.to_dict()["runners"][2]["error"]["message"] == "this runner is broken"


def test_the_item_budget_really_stops(worked: Tenure) -> None:
    settings = WorkerSettings(tick_runner_max_items=7)

    assert Worker(worked, settings=settings).tick().processed == 7
    assert worked.insight.counts() == {State.SUCCEEDED: 7, State.QUEUED: 23}


def test_the_overall_budget_skips_what_has_no_time_left(app: Tenure) -> None:
    log: list[str] = []

    @app.job("slow")
    async def slow(job: RunningJob) -> None:
        await asyncio.sleep(1.1)  # longer than the budget, which must suffice to begin

    slow.enqueue()
    app.include(Feature(Counting("after", log)))

    report = Worker(app, settings=WorkerSettings(tick_overall_max_ms=1_000)).tick()

    assert report.skipped == ["after", "pruning"]
    assert log == []
    assert app.insight.counts() == {State.SUCCEEDED: 1}


@pytest.mark.parametrize("kind", ["on_loop", "in_thread"])
def test_a_tick_ends_within_its_time_and_its_grace(app: Tenure, kind: str) -> None:
    """However long a handler takes: its job is given back with its attempt."""
    over = threading.Event()

    @app.job("on_loop")
    async def on_loop(job: RunningJob) -> None:
        await asyncio.sleep(60)

    @app.job("in_thread")
    def in_thread(job: RunningJob) -> None:
        over.wait(60)

    ref, begun = app.enqueue(kind), time.monotonic()
    settings = WorkerSettings(tick_overall_max_ms=200, tick_grace_ms=300)

    report = Worker(app, settings=settings).tick()

    assert time.monotonic() - begun < 0.5 + STOP_GRACE + 2
    over.set()
    assert report.skipped == ["pruning"]
    job = app.get(ref)
    assert (job.state, job.attempt) == (State.QUEUED, 0)


def test_a_handler_may_use_what_is_left_of_the_tick(app: Tenure) -> None:
    """A runner's time is over long before."""

    @app.job("slow")
    async def slow(job: RunningJob) -> None:
        await asyncio.sleep(0.3)

    ref = slow.enqueue()
    settings = WorkerSettings(tick_runner_max_ms=20, tick_grace_ms=0, shutdown_timeout_ms=0)

    Worker(app, settings=settings).tick()

    assert app.get(ref).state is State.SUCCEEDED


def test_work_enqueued_by_the_work_belongs_to_the_same_tick(app: Tenure) -> None:
    @app.job("count")
    def count(job: RunningJob, n: int) -> None:
        if n:
            count.enqueue(n - 1)

    count.enqueue(5)

    assert Worker(app).tick().processed == 6


def test_ticks_share_the_tenants_by_shard(app: Tenure) -> None:
    @app.job("x")
    async def handler(job: RunningJob) -> None:
        """Nothing."""

    app.enqueue_many([app.new("x", tenant=f"t{n}") for n in range(40)])
    done = []
    for index in range(4):
        settings = WorkerSettings(tick_shard_index=index, tick_shard_count=4)
        done.append(Worker(app, settings=settings).tick().processed)

    assert sum(done) == 40
    assert all(0 < part < 40 for part in done)


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        (
            {"tick_shard_index": 4, "tick_shard_count": 4},
            "WORKER_TICK_SHARD_INDEX must be from 0 to 3, not 4",
        ),
        ({"tick_shard_count": 4}, "set both WORKER_TICK_SHARD_INDEX and"),
        ({"tick_shard_index": 0}, "set both WORKER_TICK_SHARD_INDEX and"),
        ({"tick_shard_index": -1, "tick_shard_count": 2}, "greater than or equal to 0"),
        ({"tick_shard_index": 0, "tick_shard_count": 257}, "less than or equal to 256"),
    ],
)
def test_a_shard_that_cannot_be_is_refused(values: dict[str, int], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        WorkerSettings(**values)  # type: ignore[arg-type]
