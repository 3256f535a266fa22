"""Schedules start on time: no back-off, no busy pool and no full queue makes them late.

Retries of less than a second do so as well.
"""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from tenure import Exponential, RunningJob, Settings, Snooze, State, Tenure, Worker
from tenure.core.filter import JobFilter
from tenure.features.schedules import Schedules
from tenure.worker.settings import WorkerSettings
from tests.support.until import until

LAZY = WorkerSettings(
    idle_backoff_min_ms=600_000, idle_backoff_max_ms=600_000, busy_loop_delay_ms=600_000
)


def ticking(app: Tenure, queue: str = "default") -> None:
    @Schedules.of(app).every(seconds=1)
    @app.job("tick", queue=queue)
    async def tick(job: RunningJob) -> None: ...


def ticks(app: Tenure) -> int:
    return len(list(app.insight.stream(JobFilter(kinds=("tick",)))))


def test_a_slot_does_not_wait_for_the_back_off(app: Tenure) -> None:
    ticking(app)

    with Worker(app, settings=LAZY):
        until(lambda: ticks(app) >= 3)


def test_busy_threads_and_full_queues_do_not_keep_a_slot(app: Tenure) -> None:
    gate = threading.Event()
    ticking(app, queue="other")

    @app.job("hold")
    async def hold(job: RunningJob) -> None:
        await asyncio.to_thread(gate.wait)

    app.enqueue_many([hold.new() for _ in range(200)])
    with Worker(app, settings=LAZY, concurrency=100):
        until(lambda: ticks(app) >= 3)
        gate.set()


def test_a_slow_runner_does_not_keep_a_slot(app: Tenure) -> None:
    gate = threading.Event()

    class Slow:
        name = "slow"

        def run(self, budget: Any) -> int:
            gate.wait()
            return 0

    class Feature:
        handlers = ()
        runners = (Slow(),)

    ticking(app)
    app.include(Feature())
    with Worker(app, settings=LAZY):
        until(lambda: ticks(app) >= 3)
        gate.set()


def test_a_runner_that_cannot_say_when_it_is_due_is_run_again(app: Tenure) -> None:
    runs, errors = [], []

    class Unsure:
        name = "unsure"

        def run(self, budget: Any) -> int:
            runs.append(1)
            return 0

        def due_in(self) -> float:
            raise ValueError("no idea")

    class Feature:
        handlers = ()
        runners = (Unsure(),)

    ticking(app)
    app.include(Feature())
    app.signals.subscribe(lambda _, facts: errors.append(facts["step"]), "worker.error")
    soon = WorkerSettings(tick_loop_error_backoff_ms=1, tick_loop_max_jitter_ms=0)
    with Worker(app, settings=soon):
        until(lambda: len(runs) >= 3)

    assert set(errors) == {"unsure"}


def test_the_next_look_is_at_the_next_slot_or_soon(app: Tenure) -> None:
    runner: Any = app.runners[0]
    ticking(app)

    Worker(app).tick()
    assert runner.due_in() <= 1

    Schedules.of(app).edit("tick", every=86_400)
    Worker(app).tick()
    assert runner.due_in() <= 5


def test_a_job_of_a_slot_belongs_to_the_tick_that_fired_it(app: Tenure) -> None:
    ticking(app)
    Worker(app).tick()
    due = Schedules.of(app).get("tick").next_at

    until(lambda: app.store.now() >= due)
    report = Worker(app).tick()

    assert [one.processed for one in report.runners if one.name in ("schedules", "jobs")] == [1, 1]


def test_a_short_retry_does_not_wait_for_the_poll(database_url: str) -> None:
    app = Tenure(database_url, settings=Settings(poll_seconds=60))
    runs: list[int] = []

    @app.job("flaky", retry=Exponential(base=0.1, cap=0.1, jitter=False, attempts=8))
    async def flaky(job: RunningJob) -> None:
        runs.append(job.attempt)
        raise ValueError

    with Worker(app):
        job = app.wait(app.enqueue("flaky"), 20)

    assert (job.state, runs) == (State.DEAD, list(range(1, 9)))
    app.close()


def test_a_short_snooze_does_not_wait_for_the_poll(database_url: str) -> None:
    app = Tenure(database_url, settings=Settings(poll_seconds=60))
    runs: list[int] = []

    @app.job("early")
    def early(job: RunningJob) -> None:
        runs.append(job.attempt)
        if len(runs) < 8:
            raise Snooze(0.1)

    with Worker(app):
        assert app.wait(app.enqueue("early"), 20).state is State.SUCCEEDED

    assert len(runs) == 8
    app.close()
