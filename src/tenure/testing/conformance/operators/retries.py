"""The operator's retry: a finished job starts anew, a running one is never touched."""

from __future__ import annotations

import pytest

from tenure.core.capability import Capability
from tenure.core.filter import JobFilter
from tenure.core.job import State
from tenure.stores.contract import Change, Move, Report, Store
from tenure.testing.conformance.actions import (
    OOPS,
    add,
    add_job,
    cancel,
    claim_ids,
    claim_one,
    count_of,
    entries_of,
    finished_job,
    job_of,
    keyed,
    retry,
    settle,
    settle_done,
    start_job,
    state_of,
)
from tenure.testing.conformance.promise import needs, promise

RETRY = Change(move=Move.RETRY, actor="ada")
RETRIED = [State.FAILED, State.DEAD, State.CANCELED, State.NOT_FOUND, State.SKIPPED]


@pytest.mark.parametrize("state", RETRIED)
def test_a_job_that_did_not_succeed_starts_anew(store: Store, state: State) -> None:
    job_id = finished_job(store, state)

    assert retry(store, job_id).changed == 1

    job = job_of(store, job_id)
    assert (job.state, job.attempt, job.reason) == (State.QUEUED, 0, None)
    assert (job.finished_at, job.cancel_requested) == (None, False)
    assert claim_ids(store) == [job_id]


def test_a_success_is_not_run_again(store: Store) -> None:
    job_id = finished_job(store)

    assert retry(store, job_id).refused == [job_id]
    assert state_of(store, job_id) is State.SUCCEEDED


@promise(3)
def test_a_retry_raises_the_fence_so_that_no_old_holder_returns(store: Store) -> None:
    job = start_job(store)
    settle(store, job, State.DEAD, entry="error", failure=OOPS)
    retry(store, job.id)

    assert job_of(store, job.id).fence == 2
    again = claim_one(store)
    assert (again.attempt, again.lease.fence) == (1, 3)
    assert settle_done(store, job) == []


@promise(3)
def test_a_running_job_is_never_touched_by_a_retry(store: Store) -> None:
    job = start_job(store)

    assert retry(store, job.id).refused == [job.id]
    stored = job_of(store, job.id)
    assert (stored.state, stored.fence, stored.attempt) == (State.RUNNING, 1, 1)
    assert settle_done(store, job) == [job.id]


def test_a_waiting_job_runs_now_and_keeps_its_attempts(store: Store) -> None:
    job = start_job(store)
    settle(store, job, State.QUEUED, entry="error", delay_seconds=3600, failure=OOPS)
    assert claim_ids(store) == []

    assert retry(store, job.id).changed == 1
    assert claim_one(store).attempt == 2


@needs(Capability.REPORTS)
def test_a_retry_clears_what_the_last_run_left(store: Store) -> None:
    job = start_job(store)
    store.jobs.report([Report(lease=job.lease, progress=0.5, note="half")])
    settle(store, job, State.FAILED, entry="failed", result="1", reason="x", failure=OOPS)
    retry(store, job.id)

    stored = job_of(store, job.id)
    assert (stored.progress, stored.progress_note, stored.result_json) == (None, None, None)


@needs(Capability.HISTORY)
def test_a_retry_keeps_the_history(store: Store) -> None:
    job_id = finished_job(store, State.FAILED)
    retry(store, job_id)

    assert entries_of(store, job_id) == ["failed", "retried"]
    assert [line.worker for line in store.jobs.history(job_id)] == ["worker", "ada"]


@promise(4)
def test_a_retried_job_has_all_its_attempts_again(store: Store) -> None:
    job_id = finished_job(store, State.DEAD, max_attempts=1)
    retry(store, job_id)
    job = claim_one(store)

    assert (job.attempt, job.max_attempts) == (1, 1)


@promise(5)
@needs(Capability.UNIQUE_KEYS)
def test_a_retry_is_refused_while_another_job_has_the_key(store: Store) -> None:
    dead = finished_job(store, State.DEAD, key=keyed("k").key)
    [live] = add(store, keyed("k", "2"))

    assert retry(store, dead).refused == [dead]
    assert state_of(store, dead) is State.DEAD

    cancel(store, live.id)
    assert retry(store, dead).changed == 1


@promise(5)
@needs(Capability.UNIQUE_KEYS)
def test_of_two_finished_jobs_with_one_key_only_one_is_retried(store: Store) -> None:
    ids = [finished_job(store, State.DEAD, key=keyed("k").key) for _ in range(2)]
    other = finished_job(store, State.DEAD)

    answer = store.jobs.change(JobFilter(states=(State.DEAD,)), RETRY)

    assert answer.changed == 2
    assert len(answer.refused) == 1
    assert answer.refused[0] in ids
    assert state_of(store, other) is State.QUEUED
    assert count_of(store, key="k", states=(State.QUEUED,)) == 1


@promise(5)
@needs(Capability.UNIQUE_KEYS)
def test_a_retried_job_has_its_key_again(store: Store) -> None:
    dead = finished_job(store, State.DEAD, key=keyed("k").key)
    retry(store, dead)

    [answer] = add(store, keyed("k"))
    assert (answer.id, answer.created) == (dead, False)


@needs(Capability.HISTORY)
def test_a_job_cancelled_while_waiting_may_be_retried(store: Store) -> None:
    job_id = add_job(store)
    cancel(store, job_id)
    retry(store, job_id)

    assert claim_ids(store) == [job_id]
    assert entries_of(store, job_id) == ["canceled", "retried"]
