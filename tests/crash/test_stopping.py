"""How handlers are stopped: out of time, called off, or after the lease was lost."""

from __future__ import annotations

import signal

import pytest

from tenure import JobRef, State, Tenure
from tests.crash.looking import effects, ended, entries, heard, leases_pass, started
from tests.crash.marks import Mark, Marks
from tests.crash.programs import LEASE_SECONDS, Programs, is_alive
from tests.support.until import until

pytestmark = pytest.mark.crash
PLACES = ("async", "thread", "process")


def hold(app: Tenure, marks: Marks) -> dict[str, JobRef]:
    """A running job of each sort."""
    jobs = {place: app.enqueue(f"hold.{place}", {"gate": place}) for place in PLACES}
    for job in jobs.values():
        started(marks, job)
    heard(marks, "grandchild")
    return jobs


def check_told(marks: Marks, jobs: dict[str, JobRef]) -> None:
    """Each handler was stopped in the way of its place."""
    heard(marks, "stopped", job=jobs["async"].id, error="CancelledError")
    heard(marks, "noticed", job=jobs["thread"].id)
    check_gone(started(marks, jobs["process"]))
    check_gone({"by": marks.find("grandchild", job=jobs["process"].id)[0]["pid"]})


def check_gone(of: Mark) -> None:
    until(lambda: not is_alive(of["by"]))


def test_a_running_job_is_cancelled_in_its_place_and_a_waiting_one_at_once(
    app: Tenure, programs: Programs, marks: Marks
) -> None:
    programs.worker()
    waiting = app.enqueue("quick", delay=3600)
    jobs = hold(app, marks)

    assert app.cancel(waiting).state is State.CANCELED
    for job in jobs.values():
        assert app.cancel(job).cancel_requested

    check_told(marks, jobs)
    for row in ended(app, *jobs.values()):
        assert (row.state, row.reason, row.attempt) == (State.CANCELED, "canceled", 1)


def test_a_handler_that_lost_its_lease_is_stopped_and_cannot_settle(
    app: Tenure, programs: Programs, marks: Marks
) -> None:
    programs.worker()
    jobs = hold(app, marks)

    take_away(app, seconds=3 * LEASE_SECONDS)

    check_told(marks, jobs)
    for job in jobs.values():
        heard(marks, "job.let_go", job=job.id, settled=False)
        row = app.get(job)
        assert (row.state, row.fence, row.lease_owner) == (State.RUNNING, 2, "somebody else")
    for place in PLACES:
        marks.open_gate(place)
    for row in ended(app, *jobs.values()):
        assert (row.state, row.result["fence"]) == (State.SUCCEEDED, 3)
        assert entries(app, JobRef(row.id)) == [(2, "crashed"), (3, "succeeded")]


def take_away(app: Tenure, seconds: float) -> None:
    """As if somebody else had claimed every running job."""
    longer = f"lease_until = lease_until + {int(seconds * 1_000_000)}"
    with app.transaction() as tx:
        tx.execute(
            f"UPDATE tenure_jobs SET fence = fence + 1, lease_owner = 'somebody else', {longer} "  # noqa: S608
            "WHERE state = 1"
        )


def test_a_handler_past_its_timeout_is_stopped_and_tried_again(
    app: Tenure, programs: Programs, marks: Marks
) -> None:
    programs.worker()
    jobs = {
        place: app.enqueue(f"brief.{place}", {"gate": place}, max_attempts=100) for place in PLACES
    }

    heard(marks, "stopped", job=jobs["async"].id, error="CancelledError")
    marks.open_gate("async")
    heard(marks, "noticed", job=jobs["thread"].id)
    marks.open_gate("thread")
    grandchild = heard(marks, "grandchild", job=jobs["process"].id)
    check_gone(grandchild)
    check_gone({"by": grandchild["pid"]})
    marks.open_gate("process")

    for row in ended(app, *jobs.values()):
        assert row.state is State.SUCCEEDED
        told = [entry for _, entry in entries(app, JobRef(row.id))]
        assert told == ["timeout"] * (row.attempt - 1) + ["succeeded"]
        assert row.attempt >= 2


def test_settlements_that_are_stopped_halfway_leave_nothing_behind(
    app: Tenure, programs: Programs, marks: Marks
) -> None:
    """On SQLite one of them writes and the others wait to begin; all are out of time."""
    programs.worker()
    new = app.new("brief.settle", {"gate": "brief"}, max_attempts=20)
    jobs = app.enqueue_many([new] * 4)
    for job in jobs:
        heard(marks, "stopped", job=job.id, error="CancelledError")
    marks.open_gate("brief")

    rows = ended(app, *jobs)

    assert {row.state for row in rows} == {State.SUCCEEDED}
    assert [row.result["fence"] for row in rows] == [row.fence for row in rows]
    assert sorted(effects(app)) == sorted((int(row.id), row.fence) for row in rows)


def test_a_thread_past_its_timeout_keeps_slot_and_lease_until_it_ends(
    app: Tenure, programs: Programs, marks: Marks
) -> None:
    programs.worker()
    queue = "brief"  # which has one slot
    job = app.enqueue("brief.thread", {"gate": "thread", "heed": False}, queue=queue)
    started(marks, job)
    behind = app.enqueue("brief.thread", {"gate": "behind"}, queue=queue)

    heard(marks, "job.overrun", job=job.id)
    leases_pass(app, 1.5)
    assert (app.get(job).state, app.get(job).fence) == (State.RUNNING, 1)
    assert marks.find("start", job=behind.id) == []

    marks.open_gate("thread")
    marks.open_gate("behind")
    (row,) = ended(app, job)
    assert entries(app, job) == [(1, "timeout"), (2, "succeeded")]
    assert row.result["fence"] == 2
    assert ended(app, behind)[0].state is State.SUCCEEDED


def test_a_killed_worker_takes_the_processes_of_its_handlers_along(
    app: Tenure, programs: Programs, marks: Marks
) -> None:
    worker = programs.worker()
    job = app.enqueue("hold.process", {"gate": "never"})
    child = started(marks, job)
    heard(marks, "grandchild")

    worker.send_signal(signal.SIGKILL)

    check_gone(child)
