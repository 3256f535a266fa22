"""What users' code can do to a worker, and must not: stop it, keep its slots, hold its jobs."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator

from tenure import (
    NO_RETRY,
    Delays,
    OptionError,
    Retry,
    RunningJob,
    Settings,
    Snooze,
    State,
    Tenure,
    Worker,
)
from tenure.stores.contract import LogLine
from tenure.testing import run_until_idle
from tenure.worker.settings import WorkerSettings
from tests.support.until import until


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("I cannot say")


def picky(value: int) -> int:
    raise KeyError(value)


class BrokenPolicy(Delays):
    def delay(self, attempt: int, random: Any) -> float:
        raise RuntimeError("no idea how long")


def test_an_exception_that_cannot_describe_itself_is_an_error_like_any_other(app: Tenure) -> None:
    @app.job("x", retry=NO_RETRY)
    def handler(job: RunningJob) -> None:
        raise Mute

    ref = handler.enqueue()
    run_until_idle(app)

    job = app.get(ref)
    assert job.state is State.DEAD
    assert (app.insight.history(job)[0].failure or {})["type"] == "Mute"


def test_a_validator_that_fails_in_its_own_way_is_a_wrong_payload(app: Tenure) -> None:
    @app.job("x")
    def handler(job: RunningJob, n: Annotated[int, AfterValidator(picky)]) -> None: ...

    refs = [app.enqueue("x", {"n": n}) for n in range(3)]
    run_until_idle(app, concurrency=1)

    assert [app.get(ref).reason for ref in refs] == ["bad_arguments"] * 3


def test_a_retry_policy_that_fails_does_not_keep_the_job(app: Tenure) -> None:
    @app.job("x", retry=BrokenPolicy(1, 2))
    def handler(job: RunningJob) -> None:
        raise ValueError("first")

    ref = handler.enqueue()
    run_until_idle(app)

    job = app.get(ref)
    assert (job.state, job.attempt) == (State.QUEUED, 1)
    assert (app.insight.history(job)[0].failure or {})["message"] == "no idea how long"


@pytest.mark.parametrize("ending", [SystemExit(3), KeyboardInterrupt()])
def test_an_async_handler_that_exits_ends_only_itself(app: Tenure, ending: BaseException) -> None:
    @app.job("exit", retry=NO_RETRY)
    async def leave(job: RunningJob) -> None:
        raise ending

    @app.job("stay", retry=NO_RETRY)
    async def stay(job: RunningJob) -> str:
        await asyncio.sleep(0.01)
        return "still here"

    refs = [stay.enqueue(), leave.enqueue(), stay.enqueue()]
    run_until_idle(app)

    assert [app.get(ref).state for ref in refs] == [State.SUCCEEDED, State.DEAD, State.SUCCEEDED]


@pytest.mark.parametrize("delay", [float("nan"), float("inf"), -1.0, "5", True])
@pytest.mark.parametrize("outcome", [Retry, Snooze])
def test_a_delay_that_is_none_is_the_handlers_error(app: Tenure, outcome: Any, delay: Any) -> None:
    @app.job("x")
    def handler(job: RunningJob) -> None:
        raise outcome(delay=delay) if outcome is Retry else outcome(delay)

    ref = handler.enqueue()
    run_until_idle(app)

    assert (app.get(ref).state, app.get(ref).reason) == (State.FAILED, "bad_option")


@pytest.fixture
def each_app(database_url: str) -> Iterator[Tenure]:
    made = Tenure(database_url, settings=Settings(lease_seconds=30))
    yield made
    made.close()


def test_a_line_that_cannot_be_stored_keeps_nothing_else_from_being_written(
    each_app: Tenure, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = each_app

    @app.job("x", retry=NO_RETRY)
    def handler(job: RunningJob, bad: bool) -> str:
        job.log("first", level="a\x00")
        if bad:
            spoilt.add(job.id)
        return "done"

    def take_news(job: RunningJob) -> Any:  # past every check of ours: the database refuses it
        return unstorable(job) if job.id in spoilt else taken(job)

    spoilt: set[str] = set()
    taken = RunningJob.take_news
    monkeypatch.setattr(RunningJob, "take_news", take_news)
    refs = [handler.enqueue(bad=True), *[handler.enqueue(bad=False) for _ in range(4)]]
    run_until_idle(app, concurrency=1)

    assert [app.get(ref).result for ref in refs] == ["done"] * 5
    assert [line.level for line in app.insight.logs(refs[-1].id)] == ["a\\x00"]


def unstorable(job: RunningJob) -> Any:
    from tenure.stores.contract import Report

    return Report(lease=job.claimed.lease, lines=[LogLine("x" * 10, level=None)])  # type: ignore[arg-type]


def test_a_cancelled_lifespan_gives_its_jobs_back(app: Tenure) -> None:
    started = threading.Event()

    @app.job("x")
    async def handler(job: RunningJob) -> None:
        started.set()
        await asyncio.sleep(3600)

    ref = handler.enqueue()

    async def lifespan() -> None:
        worker = Worker(app, settings=WorkerSettings(shutdown_timeout_ms=0))
        task = asyncio.ensure_future(worker.run_async())
        await asyncio.to_thread(started.wait, 20)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(lifespan())

    job = app.get(ref)
    assert (job.state, job.attempt, job.refunds) == (State.QUEUED, 0, 1)


def test_a_runner_that_is_not_registered_ends_the_worker_at_once(app: Tenure) -> None:
    app.job("x")(lambda job: None)
    app.enqueue("x")

    with pytest.raises(OptionError, match="registered are: schedules, jobs"):
        Worker(app, settings=WorkerSettings(tick_runners=("nope",))).run()

    assert app.insight.counts() == {State.QUEUED: 1}


def test_a_slot_is_never_waited_for_while_a_thread_could_be_started(app: Tenure) -> None:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    together = threading.Barrier(2)

    @app.job("x")
    def handler(job: RunningJob) -> None:
        together.wait(timeout=20)

    try:
        app.enqueue_many([handler.new() for _ in range(200)])
        run_until_idle(app, concurrency=2)
    finally:
        sys.setswitchinterval(before)

    assert app.insight.counts() == {State.SUCCEEDED: 200}


def test_a_cancel_does_not_wait_for_the_next_renewal(tmp_path: Path) -> None:
    settings = Settings(lease_seconds=3_600, renew_seconds=1_200)
    app = Tenure(f"sqlite:///{tmp_path / 'patient.db'}", settings=settings)

    @app.job("long")
    async def long(job: RunningJob) -> None:
        await asyncio.Event().wait()

    job = long.enqueue()
    with Worker(app):
        until(lambda: app.get(job).state is State.RUNNING)
        app.cancel(job)
        until(lambda: app.get(job).state is State.CANCELED)
    app.close()
