"""The end of a run: written under the fence, and only as it was decided."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from tenure.core.capability import Capability
from tenure.core.job import State
from tenure.core.lease import Lease
from tenure.core.settlement import Settlement
from tenure.stores.contract import Store
from tenure.testing.conformance.actions import (
    OOPS,
    add_job,
    add_jobs,
    cancel,
    claim_all,
    claim_ids,
    claim_one,
    entries_of,
    job_of,
    retry,
    settle,
    settle_done,
    start_job,
    state_of,
)
from tenure.testing.conformance.promise import needs, promise


@needs(Capability.HISTORY)
def test_a_success_keeps_its_result_and_writes_no_history(store: Store) -> None:
    job = start_job(store)

    assert settle(store, job, State.SUCCEEDED, result='{"file": "é🙂"}')

    stored = job_of(store, job.id)
    assert (stored.state, stored.result_json, stored.reason) == (
        State.SUCCEEDED,
        '{"file": "é🙂"}',
        None,
    )
    assert stored.finished_at is not None
    assert stored.finished_at >= job.started_at
    assert stored.lease_until is None
    assert store.jobs.history(job.id) == []


def test_a_result_may_be_a_megabyte(store: Store) -> None:
    job = start_job(store)
    result = '"' + "x" * 1_000_000 + '"'
    settle(store, job, State.SUCCEEDED, result=result)

    assert job_of(store, job.id).result_json == result


@promise(7)
def test_a_requeue_waits_and_keeps_its_attempt(store: Store) -> None:
    job = start_job(store)
    before = store.now()

    settle(store, job, State.QUEUED, entry="error", delay_seconds=60, failure=OOPS)

    stored = job_of(store, job.id)
    assert (stored.state, stored.attempt, stored.fence) == (State.QUEUED, 1, 1)
    assert (stored.finished_at, stored.lease_until) == (None, None)
    wait = stored.run_at - before
    assert timedelta(seconds=60) <= wait < timedelta(seconds=70)


@needs(Capability.HISTORY)
def test_a_failed_attempt_is_one_line_of_history(store: Store) -> None:
    job = start_job(store)
    settle(store, job, State.QUEUED, entry="error", failure=OOPS)

    [line] = store.jobs.history(job.id)
    assert (line.fence, line.attempt, line.entry, line.worker) == (1, 1, "error", "worker")
    assert line.failure == OOPS.to_dict()
    assert line.started_at == job.started_at
    assert line.finished_at >= job.started_at


@needs(Capability.HISTORY)
def test_every_failed_attempt_has_its_own_line(store: Store) -> None:
    first = start_job(store)
    settle(store, first, State.QUEUED, entry="error", failure=OOPS)
    settle(store, claim_one(store, owner="b"), State.QUEUED, entry="timeout", failure=OOPS)
    settle(store, claim_one(store, owner="c"), State.SUCCEEDED)

    lines = store.jobs.history(first.id)
    assert [(line.fence, line.attempt, line.entry, line.worker) for line in lines] == [
        (1, 1, "error", "worker"),
        (2, 2, "timeout", "b"),
    ]


@needs(Capability.HISTORY)
@pytest.mark.parametrize(
    ("state", "entry", "reason"),
    [
        (State.FAILED, "failed", "permanent"),
        (State.DEAD, "error", "exhausted"),
        (State.CANCELED, "canceled", "canceled"),
        (State.NOT_FOUND, "not_found", None),
        (State.SKIPPED, "skipped", None),
    ],
)
def test_a_final_state_is_written_with_its_reason(
    store: Store, state: State, entry: str, reason: str | None
) -> None:
    job = start_job(store)
    settle(store, job, state, entry=entry, reason=reason, failure=OOPS)

    stored = job_of(store, job.id)
    assert (stored.state, stored.reason) == (state, reason)
    assert stored.finished_at is not None
    assert entries_of(store, job.id) == [entry]
    assert claim_ids(store) == []


@needs(Capability.HISTORY)
def test_a_snooze_gives_the_attempt_back_and_is_counted(store: Store) -> None:
    job = start_job(store)
    settle(store, job, State.QUEUED, entry="snoozed", refund=True, snooze=True)

    stored = job_of(store, job.id)
    assert (stored.attempt, stored.snoozes, stored.refunds, stored.fence) == (0, 1, 0, 1)
    [line] = store.jobs.history(job.id)
    assert (line.entry, line.attempt) == ("snoozed", 1)


@needs(Capability.HISTORY)
def test_the_newest_counts_of_failures_are_found_behind_other_lines(store: Store) -> None:
    job = start_job(store)
    assert store.jobs.failure_counts(job.id) == {}
    for counts in ({"NotFound": 1}, {"NotFound": 1, "Throttled": 4}):
        told = replace(OOPS, bound="NotFound 1 of 2", counts=counts)
        settle(store, job, State.QUEUED, entry="error", failure=told)
        job = claim_one(store)
    misleading = replace(OOPS, message='"counts": {"NotFound": 9}')
    settle(store, job, State.QUEUED, entry="error", failure=misleading)
    settle(store, claim_one(store), State.QUEUED, entry="released", refund=True)

    assert store.jobs.failure_counts(job.id) == {"NotFound": 1, "Throttled": 4}
    retry(store, job.id)
    assert store.jobs.failure_counts(job.id) == {}


def test_a_release_gives_the_attempt_back_and_is_counted(store: Store) -> None:
    job = start_job(store)
    settle(store, job, State.QUEUED, entry="released", refund=True)

    stored = job_of(store, job.id)
    assert (stored.attempt, stored.snoozes, stored.refunds) == (0, 0, 1)
    again = claim_one(store)
    assert (again.attempt, again.refunds, again.lease.fence) == (1, 1, 2)


@needs(Capability.HISTORY)
def test_a_cancel_asked_for_during_the_run_ends_a_requeue(store: Store) -> None:
    job = start_job(store)
    cancel(store, job.id)
    settle(store, job, State.QUEUED, entry="error", delay_seconds=5, failure=OOPS)

    stored = job_of(store, job.id)
    assert (stored.state, stored.reason) == (State.CANCELED, "canceled")
    assert stored.finished_at is not None
    assert "error" in entries_of(store, job.id)


def test_a_cancel_asked_for_too_late_does_not_undo_a_success(store: Store) -> None:
    job = start_job(store)
    cancel(store, job.id)
    settle_done(store, job)

    assert state_of(store, job.id) is State.SUCCEEDED


@promise(3)
@needs(Capability.HISTORY)
def test_a_job_is_settled_once(store: Store) -> None:
    job = start_job(store)
    settle_done(store, job)

    assert not settle(store, job, State.FAILED, entry="failed", failure=OOPS)
    assert state_of(store, job.id) is State.SUCCEEDED
    assert store.jobs.history(job.id) == []


@promise(3)
def test_a_wrong_fence_settles_nothing(store: Store) -> None:
    job = start_job(store)
    wrong = [Lease(job.id, fence, "worker") for fence in (0, 2)]

    for lease in wrong:
        assert store.jobs.settle([Settlement(lease=lease, state=State.SUCCEEDED)]) == frozenset()
    assert state_of(store, job.id) is State.RUNNING


@promise(3)
def test_a_stale_settlement_is_refused_beside_good_ones(store: Store) -> None:
    add_jobs(store, 3)
    first, second, third = claim_all(store)
    settle_done(store, second)

    assert settle_done(store, third, second, first) == [third.id, first.id]


@promise(3)
def test_a_lease_from_before_a_requeue_settles_nothing(store: Store) -> None:
    job = start_job(store)
    settle(store, job, State.QUEUED, entry="error", failure=OOPS)

    assert settle_done(store, job) == []
    claim_one(store)
    assert settle_done(store, job) == []
    assert state_of(store, job.id) is State.RUNNING


def test_two_hundred_jobs_settle_in_one_call(store: Store) -> None:
    ids = add_jobs(store, 200)
    jobs = claim_all(store, slots=200)
    items = [
        Settlement(lease=job.lease, state=State.SUCCEEDED, result=f'"{job.id}"') for job in jobs
    ]

    assert store.jobs.settle(items) == frozenset(ids)
    assert job_of(store, ids[77]).result_json == f'"{ids[77]}"'


def test_endings_of_every_sort_settle_in_one_call(store: Store) -> None:
    add_jobs(store, 3)
    done, again, broken = claim_all(store)
    items = [
        Settlement(lease=broken.lease, state=State.FAILED, entry="failed", failure=OOPS),
        Settlement(lease=done.lease, state=State.SUCCEEDED, result="1"),
        Settlement(lease=again.lease, state=State.QUEUED, entry="error", delay_seconds=60),
    ]

    assert len(store.jobs.settle(items)) == 3
    states = [state_of(store, job.id) for job in (done, again, broken)]
    assert states == [State.SUCCEEDED, State.QUEUED, State.FAILED]


def test_no_settlements_are_nothing_applied(store: Store) -> None:
    assert store.jobs.settle([]) == frozenset()


@promise(2)
def test_among_many_successes_the_stale_one_alone_is_refused(store: Store) -> None:
    ids = add_jobs(store, 20)
    jobs = claim_all(store, owner="a")
    assert settle(store, jobs[7], State.QUEUED, refund=True, returned=True)
    taken = claim_one(store, owner="b")
    assert taken.id == jobs[7].id

    assert settle_done(store, *jobs) == [one for one in ids if one != taken.id]
    assert (state_of(store, taken.id), job_of(store, taken.id).lease_owner) == (State.RUNNING, "b")
    assert settle_done(store, *jobs) == []


@promise(2)
def test_a_success_is_applied_once_even_beside_others(store: Store) -> None:
    add_jobs(store, 2)
    first, second = claim_all(store)
    assert settle_done(store, first) == [first.id]
    finished_at = job_of(store, first.id).finished_at

    assert settle_done(store, first, second) == [second.id]
    assert job_of(store, first.id).finished_at == finished_at


@promise(15)
@needs(Capability.DEPENDENCIES)
def test_a_success_that_somebody_waits_for_is_applied_beside_others(store: Store) -> None:
    awaited, plain = add_jobs(store, 2)
    jobs = claim_all(store)
    waiting = add_job(store, after=(awaited,))

    written, _ = store.jobs.exchange(
        [Settlement(lease=job.lease, state=State.SUCCEEDED) for job in jobs], [], None
    )

    assert written.applied == {awaited, plain}
    assert claim_ids(store) == [waiting]
