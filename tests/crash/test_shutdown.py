"""A worker that is told to stop finishes what it can and gives the rest back."""

from __future__ import annotations

import asyncio
import signal

import pytest

from tenure import JobRef, RunningJob, State, Tenure, Worker
from tenure.core.rules.run_again import MAX_REFUNDS
from tenure.worker.settings import WorkerSettings
from tests.crash.looking import entries, heard, started
from tests.crash.marks import Marks
from tests.crash.programs import Program, Programs
from tests.support.until import until

pytestmark = pytest.mark.crash
PLACES = ("async", "thread", "process")


def hold_everywhere(app: Tenure, gate: str) -> list[JobRef]:
    """A job of each sort. The thread does not listen when it is asked to stop."""
    jobs = [app.enqueue(f"hold.{place}", {"gate": gate}) for place in ("async", "process")]
    return [*jobs, app.enqueue("hold.thread", {"gate": gate, "heed": False})]


def test_sigterm_lets_short_jobs_finish_and_gives_long_ones_back(
    app: Tenure, programs: Programs, marks: Marks
) -> None:
    worker = programs.worker(TENURE_CONCURRENCY="6", WORKER_SHUTDOWN_TIMEOUT_MS="1500")
    short, long = hold_everywhere(app, "short"), hold_everywhere(app, "long")
    for job in [*short, *long]:
        started(marks, job)
    waiting = [app.enqueue("quick") for _ in range(5)]

    worker.send_signal(signal.SIGTERM)
    heard(marks, "worker.stopping", by=worker.pid)
    marks.open_gate("short")

    assert worker.wait(20) == 0
    assert {app.get(job).state for job in short} == {State.SUCCEEDED}
    check_given_back(app, long)
    for job in waiting:
        assert (app.get(job).state, app.get(job).attempt) == (State.QUEUED, 0)
        assert marks.find("start", job=job.id) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_gives_everything_back_at_once(
    app: Tenure, programs: Programs, marks: Marks, number: signal.Signals
) -> None:
    worker = programs.worker(WORKER_SHUTDOWN_TIMEOUT_MS="600000")
    jobs = hold_everywhere(app, "never")
    for job in jobs:
        started(marks, job)

    worker.send_signal(number)
    heard(marks, "worker.stopping", by=worker.pid)
    assert still_runs(worker)
    worker.send_signal(number)

    assert worker.wait(20) == 0
    check_given_back(app, jobs)


def test_a_job_is_refunded_only_so_often(app: Tenure) -> None:
    @app.job("endless")
    async def endless(job: RunningJob) -> None:
        await asyncio.Event().wait()

    job = app.enqueue("endless", max_attempts=1)
    for _ in range(MAX_REFUNDS + 1):
        with Worker(app, settings=WorkerSettings(shutdown_timeout_ms=0)):
            until(lambda: app.get(job).state is State.RUNNING)

    row = app.get(job)
    assert (row.state, row.reason) == (State.DEAD, "released_too_often")
    assert (row.attempt, row.refunds) == (1, MAX_REFUNDS)
    assert entries(app, job) == [(n, "released") for n in range(1, MAX_REFUNDS + 2)]


def still_runs(program: Program) -> bool:
    return program.poll() is None


def check_given_back(app: Tenure, jobs: list[JobRef]) -> None:
    for job in jobs:
        row = app.get(job)
        assert (row.state, row.attempt, row.refunds) == (State.QUEUED, 0, 1)
        assert entries(app, job) == [(1, "released")]
