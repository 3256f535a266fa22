"""What must not cost a lease: a blocked event loop, and a long transaction of somebody's own."""

from __future__ import annotations

import pytest

from tenure import JobRef, State, Tenure
from tests.crash.looking import effects, ended, entries, heard, leases_pass, started, wait_for_line
from tests.crash.marks import Marks
from tests.crash.programs import Programs

pytestmark = pytest.mark.crash


def test_a_handler_that_blocks_the_event_loop_keeps_its_lease(
    app: Tenure, programs: Programs, marks: Marks
) -> None:
    worker = programs.worker()
    job = app.enqueue("hold.loop", {"gate": "loop"})
    assert started(marks, job)["by"] == worker.pid
    programs.worker()

    leases_pass(app, 3)
    marks.open_gate("loop")

    check_ran_once(app, job)


@pytest.mark.parametrize("settling", ["settle.thread", "settle.async"])
def test_a_settlement_held_open_costs_no_other_job_its_lease(
    app: Tenure, programs: Programs, marks: Marks, settling: str
) -> None:
    there = programs.worker(TENURE_CONCURRENCY="1")
    elsewhere = app.enqueue("hold.async", {"gate": "beside"})
    assert started(marks, elsewhere)["by"] == there.pid
    here = programs.worker()
    beside = [app.enqueue(kind, {"gate": "beside"}) for kind in ("hold.async", "hold.thread")]
    for job in beside:
        assert started(marks, job)["by"] == here.pid
    for job in [*beside, elsewhere]:  # what they had to say is written: only renewals go on
        wait_for_line(app, job, "run 1 starts")
    slow = app.enqueue(settling, {"gate": "slow"})
    heard(marks, "settling", job=slow.id)

    leases_pass(app, 2)
    marks.open_gate("slow")
    check_ran_once(app, slow)
    leases_pass(app, 1.5)
    marks.open_gate("beside")

    check_ran_once(app, *beside, elsewhere)
    assert effects(app) == [(int(slow.id), 1)]
    assert marks.find("lease.lost") == []


def test_a_handler_that_has_settled_may_go_on_without_a_lease(
    app: Tenure, programs: Programs, marks: Marks
) -> None:
    programs.worker()
    jobs = [app.enqueue(kind, {"gate": "after"}) for kind in ("after.async", "after.process")]
    check_ran_once(app, *jobs)

    leases_pass(app, 1.5)
    assert marks.find("stopped") == marks.find("lease.lost") == []
    marks.open_gate("after")

    for job in jobs:
        heard(marks, "end", job=job.id)
        heard(marks, "job.let_go", job=job.id, settled=True)
    assert sorted(effects(app)) == [(int(job.id), 1) for job in jobs]


def check_ran_once(app: Tenure, *jobs: JobRef) -> None:
    for job in ended(app, *jobs):
        assert (job.state, job.attempt, job.fence) == (State.SUCCEEDED, 1, 1)
        assert entries(app, JobRef(job.id)) == [(1, "succeeded")]
