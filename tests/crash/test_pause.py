"""A worker that stands still longer than its lease has lost it, and finds out without harm."""

from __future__ import annotations

import signal
from functools import partial

import pytest

from tenure import JobRef, State, Tenure
from tests.crash.looking import ended, said, started, wait_for_line
from tests.crash.marks import Marks
from tests.crash.programs import Program, Programs
from tests.support.until import until

pytestmark = pytest.mark.crash
LATE = ("lease.lost", "job.news_refused", "job.settle_refused", "job.let_go")


def test_a_worker_that_was_paused_past_its_lease_changes_nothing_and_works_on(
    app: Tenure, programs: Programs, marks: Marks
) -> None:
    first = programs.worker()
    kinds = ("hold.async", "hold.thread")
    jobs = [app.enqueue(kind, {"gate": f"{kind}-gate"}) for kind in kinds]
    for job in jobs:
        assert started(marks, job)["by"] == first.pid
    second = programs.worker()

    first.send_signal(signal.SIGSTOP)
    for job in jobs:
        started(marks, job, fence=2)
        assert f":{second.pid}:" in str(app.get(job).lease_owner)
        wait_for_line(app, job, "run 2 starts")
    for kind in kinds:
        marks.open_gate(f"{kind}-gate.1")
    first.send_signal(signal.SIGCONT)
    for job in jobs:
        wait_until_noticed(marks, job, first)
        check_second_holder(app, job)

    for kind in kinds:
        marks.open_gate(f"{kind}-gate.2")
    for done in ended(app, *jobs):
        assert (done.state, done.attempt, done.fence) == (State.SUCCEEDED, 1, 2)
        assert done.crashes == 1  # nobody knows that the first one was only paused
        assert done.result["fence"] == 2
    check_lives_on(app, first, second)


def wait_until_noticed(marks: Marks, job: JobRef, holder: Program) -> None:
    """The handler is through, and its worker knows that the lease is gone."""
    late = partial(marks.find, job=job.id, by=holder.pid)
    until(lambda: any(late(word, fence=1) for word in ("end", "stopped")))
    until(lambda: any(late(word) for word in LATE))


def check_second_holder(app: Tenure, job: JobRef) -> None:
    row = app.get(job)
    assert (row.state, row.fence) == (State.RUNNING, 2)
    assert (row.progress, row.progress_note) == (0.1, "run 2")
    assert [line for line in said(app, job) if line != "run 1 starts"] == ["run 2 starts"]


def check_lives_on(app: Tenure, first: Program, second: Program) -> None:
    second.terminate()
    assert second.wait(20) == 0
    other = app.enqueue("quick")
    assert ended(app, other)[0].result["pid"] == first.pid
