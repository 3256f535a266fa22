"""A worker that dies after a step and before the settlement: the step is not done again."""

from __future__ import annotations

import signal

import pytest

from tenure import State, Tenure
from tests.crash.looking import ended, heard
from tests.crash.marks import Marks
from tests.crash.programs import Programs

pytestmark = pytest.mark.crash


def test_a_step_is_done_once_though_its_worker_is_killed_after_it(
    app: Tenure, programs: Programs, marks: Marks
) -> None:
    kinds = ("step.async", "step.thread", "step.process")
    jobs = [app.enqueue(kind, {"gate": "end"}) for kind in kinds]
    first = programs.worker()
    for job in jobs:
        heard(marks, "stepped", job=job.id, fence=1)
    first.send_signal(signal.SIGKILL)
    first.wait(20)

    second = programs.worker()
    for job in jobs:
        heard(marks, "stepped", job=job.id, fence=2)
    second.send_signal(signal.SIGKILL)
    second.wait(20)
    marks.open_gate("end")
    programs.worker()

    for done in ended(app, *jobs):
        assert (done.state, done.fence, done.result) == (State.SUCCEEDED, 3, 1)
        assert [mark["fence"] for mark in marks.find("charged", job=done.id)] == [1]
