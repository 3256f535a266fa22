"""A working worker: slots, wake-ups, cancel, timeouts, stopping. Crashes are in tests/crash."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from tenure import Delays, Job, JobRef, OptionError, RunningJob, Settings, State, Tenure, Worker
from tenure.testing import run_until_idle
from tests.support.until import until


def quick(app: Tenure) -> Tenure:
    """Heartbeats often enough for a test."""
    app.settings = Settings(lease_seconds=0.9, poll_seconds=0.05)
    return app


def test_an_app_without_handlers_cannot_work(app: Tenure) -> None:
    with pytest.raises(OptionError, match="no handlers"):
        Worker(app)


def test_each_queue_has_its_own_slots(app: Tenure) -> None:
    app.settings = Settings(queue_slots={"pdf": 2}, concurrency=5)
    now: dict[str, int] = {"pdf": 0, "mail": 0}
    most: dict[str, int] = {"pdf": 0, "mail": 0}

    async def work(queue: str) -> None:
        now[queue] += 1
        most[queue] = max(most[queue], now[queue])
        await asyncio.sleep(0.01)
        now[queue] -= 1

    @app.job("pdf", queue="pdf")
    async def pdf(job: RunningJob) -> None:
        await work("pdf")

    @app.job("mail", queue="mail")
    async def mail(job: RunningJob) -> None:
        await work("mail")

    app.enqueue_many([pdf.new() for _ in range(12)] + [mail.new() for _ in range(12)])
    run_until_idle(app)

    assert most == {"pdf": 2, "mail": 5}


def test_threads_work_side_by_side_up_to_the_slots(app: Tenure) -> None:
    together = threading.Barrier(4)

    @app.job("meet")
    def meet(job: RunningJob) -> None:
        together.wait(timeout=20)

    app.enqueue_many([meet.new() for _ in range(8)])
    run_until_idle(app, concurrency=4)

    assert app.insight.counts() == {State.SUCCEEDED: 8}


def test_an_idle_worker_wakes_up_for_a_job_of_its_own_process(app: Tenure) -> None:
    app.settings = Settings(poll_seconds=3600)

    @app.job("x")
    def handler(job: RunningJob) -> str:
        return "done"

    with Worker(app):
        assert app.wait(handler.enqueue(), 20).result == "done"


def test_an_idle_worker_polls_for_jobs_of_other_processes(app: Tenure) -> None:
    app.settings = Settings(poll_seconds=0.02)
    app.job("x")(lambda job: "done")
    other = Tenure(app.url)

    with Worker(app):
        assert app.wait(other.enqueue("x"), 20).result == "done"
    other.close()


def test_progress_and_lines_are_seen_while_the_job_runs(app: Tenure) -> None:
    go_on = threading.Event()

    @app.job("x")
    def handler(job: RunningJob) -> None:
        job.progress(0.5, "halfway")
        job.log("a line\nwith a break")
        go_on.wait(20)

    with Worker(quick(app)):
        ref = handler.enqueue()
        until(lambda: app.get(ref).progress == 0.5)
        assert app.get(ref).state is State.RUNNING
        assert [line.message for line in app.insight.logs(ref.id)] == ["a line\\nwith a break"]
        go_on.set()


@pytest.mark.parametrize("form", ["async", "thread"])
def test_a_running_job_is_cancelled(app: Tenure, form: str) -> None:
    started = threading.Event()

    async def on_loop(job: RunningJob) -> None:
        started.set()
        await asyncio.sleep(3600)

    def in_thread(job: RunningJob) -> None:
        started.set()
        until(lambda: job.canceled)

    handler: Any = on_loop if form == "async" else in_thread
    app.job("x")(handler)

    with Worker(quick(app)):
        ref = app.enqueue("x")
        started.wait(20)
        assert app.cancel(ref).cancel_requested
        job = app.wait(ref, 20)

    assert (job.state, job.reason) == (State.CANCELED, "canceled")


def test_a_thread_that_finishes_in_spite_of_a_cancel_has_succeeded(app: Tenure) -> None:
    started, go_on = threading.Event(), threading.Event()

    @app.job("x")
    def handler(job: RunningJob) -> str:
        started.set()
        go_on.wait(20)
        return "finished"

    with Worker(quick(app)):
        ref = handler.enqueue()
        started.wait(20)
        app.cancel(ref)
        go_on.set()
        assert app.wait(ref, 20).result == "finished"


def test_an_async_handler_past_its_timeout_is_cancelled_and_told_so(app: Tenure) -> None:
    @app.job("x", timeout=0.05, retry=Delays())
    async def handler(job: RunningJob) -> None:
        await asyncio.sleep(3600)

    ref = handler.enqueue()
    run_until_idle(app)

    job = app.get(ref)
    assert job.state is State.DEAD
    [line] = app.insight.history(job)
    assert (line.entry, (line.failure or {})["code"]) == ("timeout", "timeout")


def test_a_thread_past_its_timeout_keeps_its_slot_and_its_result_is_refused(app: Tenure) -> None:
    seen: list[str] = []
    app.signals.subscribe(lambda name, _: seen.append(name))

    @app.job("x", timeout=0.05, retry=Delays())
    def handler(job: RunningJob) -> str:
        until(lambda: job.canceled)
        return "too late"

    ref = handler.enqueue()
    run_until_idle(app, concurrency=1)

    job = app.get(ref)
    assert (job.state, job.result) == (State.DEAD, None)
    assert "job.overrun" in seen


def test_a_stopping_worker_finishes_what_runs_and_starts_nothing(app: Tenure) -> None:
    started, go_on = threading.Event(), threading.Event()

    @app.job("x")
    def handler(job: RunningJob) -> str:
        started.set()
        go_on.wait(20)
        return "finished"

    worker = Worker(quick(app), concurrency=1)
    stopping = threading.Event()
    app.signals.subscribe(lambda name, _: stopping.set() if name == "worker.stopping" else None)
    with worker:
        first = handler.enqueue()
        started.wait(20)
        worker.stop()
        stopping.wait(20)
        second = handler.enqueue()
        go_on.set()

    assert app.get(first).result == "finished"
    assert app.get(second).state is State.QUEUED
    assert app.insight.workers() == []


def test_a_worker_that_hurries_gives_its_jobs_back_unspent(app: Tenure) -> None:
    started = threading.Event()

    @app.job("x")
    async def handler(job: RunningJob) -> None:
        started.set()
        await asyncio.sleep(3600)

    job = after_a_hurried_stop(app, handler.enqueue(), started)

    assert (job.state, job.attempt, job.refunds) == (State.QUEUED, 0, 1)
    assert [line.entry for line in app.insight.history(job)] == ["released"]


def test_a_thread_that_saw_the_hurry_and_left_off_is_given_back(app: Tenure) -> None:
    started = threading.Event()

    @app.job("x")
    def handler(job: RunningJob) -> None:
        started.set()
        until(lambda: job.canceled)

    job = after_a_hurried_stop(app, handler.enqueue(), started)

    assert (job.state, job.attempt, job.refunds) == (State.QUEUED, 0, 1)


def after_a_hurried_stop(app: Tenure, ref: JobRef, started: threading.Event) -> Job:
    worker = Worker(app)
    with worker:
        started.wait(20)
        worker.stop()
        worker.stop()
    return app.get(ref)
