"""Operators' moves: cancel and reprioritise, in bounded chunks."""

from __future__ import annotations

import pytest

from tenure.core.capability import Capability
from tenure.core.filter import JobFilter
from tenure.core.job import State
from tenure.stores.contract import Change, Move, Store
from tenure.testing.conformance.actions import (
    add_job,
    add_jobs,
    at_once,
    cancel,
    claim_all,
    claim_ids,
    count_of,
    entries_of,
    finished_job,
    job_of,
    move,
    settle_done,
    start_job,
    state_of,
)
from tenure.testing.conformance.promise import needs, promise

CANCEL = Change(move=Move.CANCEL, actor="ada")


def test_a_waiting_job_is_cancelled_at_once(store: Store) -> None:
    job_id = add_job(store)

    assert cancel(store, job_id).changed == 1

    job = job_of(store, job_id)
    assert (job.state, job.reason) == (State.CANCELED, "canceled")
    assert job.finished_at is not None
    assert claim_ids(store) == []


@needs(Capability.HISTORY)
def test_an_operators_move_is_a_line_of_history_with_a_name(store: Store) -> None:
    job_id = add_job(store)
    cancel(store, job_id)

    [line] = store.jobs.history(job_id)
    assert (line.entry, line.worker, line.started_at) == ("canceled", "ada", None)
    assert line.fence == job_of(store, job_id).fence


def test_a_running_job_is_only_asked_to_stop(store: Store) -> None:
    job = start_job(store)

    answer = cancel(store, job.id)

    stored = job_of(store, job.id)
    assert (answer.changed, answer.refused) == (1, [])
    assert (stored.state, stored.cancel_requested) == (State.RUNNING, True)
    assert stored.fence == job.lease.fence
    assert settle_done(store, job) == [job.id]


@pytest.mark.parametrize("state", [State.FAILED, State.DEAD])
def test_a_failed_or_dead_job_may_be_discarded(store: Store, state: State) -> None:
    job_id = finished_job(store, state)

    assert cancel(store, job_id).changed == 1
    assert state_of(store, job_id) is State.CANCELED


@pytest.mark.parametrize("state", [State.SUCCEEDED, State.NOT_FOUND, State.SKIPPED])
def test_a_job_that_ended_otherwise_cannot_be_cancelled(store: Store, state: State) -> None:
    job_id = finished_job(store, state)

    answer = cancel(store, job_id)

    assert (answer.matched, answer.changed, answer.refused) == (1, 0, [job_id])
    assert state_of(store, job_id) is state


@needs(Capability.REPORTS)
def test_who_asked_a_running_job_to_stop_stands_among_its_lines(store: Store) -> None:
    job = start_job(store)
    change = Change(move=Move.CANCEL, actor="alice")

    store.jobs.change(JobFilter(ids=(job.id,)), change)

    assert [line.message for line in store.jobs.logs(job.id)] == ["cancel requested by alice"]


@promise(3)
def test_a_cancel_of_a_waiting_job_raises_the_fence(store: Store) -> None:
    job_id = add_job(store)
    cancel(store, job_id)

    assert job_of(store, job_id).fence == 1


@needs(Capability.HISTORY)
def test_a_waiting_job_takes_a_new_priority(store: Store) -> None:
    add_job(store, priority=1)
    job_id = add_job(store, priority=3)

    assert move(store, job_id, Move.REPRIORITISE, priority=0).changed == 1

    assert job_of(store, job_id).priority == 0
    assert entries_of(store, job_id) == ["reprioritised"]
    assert claim_ids(store, slots=1) == [job_id]


def test_only_waiting_jobs_take_a_new_priority(store: Store) -> None:
    running, done = start_job(store).id, finished_job(store)

    for job_id in (running, done):
        assert move(store, job_id, Move.REPRIORITISE, priority=0).refused == [job_id]
    assert job_of(store, running).priority == 2


def test_a_move_tells_what_matched_what_changed_and_what_was_refused(store: Store) -> None:
    done, running, waiting = finished_job(store), start_job(store).id, add_job(store)

    answer = store.jobs.change(JobFilter(kinds=("work",)), CANCEL)

    assert (answer.matched, answer.changed, list(answer.refused)) == (3, 2, [done])
    assert answer.next is None
    assert job_of(store, running).cancel_requested
    assert state_of(store, waiting) is State.CANCELED


def test_a_move_that_matches_nothing_changes_nothing(store: Store) -> None:
    add_job(store)

    for where in (JobFilter(ids=()), JobFilter(ids=("abc",)), JobFilter(tenant="nobody")):
        answer = store.jobs.change(where, CANCEL)
        assert (answer.matched, answer.changed, answer.next) == (0, 0, None)
    assert count_of(store, states=(State.QUEUED,)) == 1


def test_a_move_goes_on_chunk_by_chunk(store: Store) -> None:
    add_jobs(store, 25)
    add_jobs(store, 5, tenant="other")
    chunks, after = [], None
    while True:
        answer = store.jobs.change(JobFilter(tenant=""), CANCEL, after=after, limit=10)
        chunks.append(answer.changed)
        if (after := answer.next) is None:
            break

    assert (chunks, count_of(store, states=(State.CANCELED,))) == ([10, 10, 5], 25)


def test_a_move_never_touches_a_job_outside_its_filter(store: Store) -> None:
    mine, other = add_job(store, tenant="a"), add_job(store, tenant="b")
    store.jobs.change(JobFilter(tenant="a"), CANCEL)

    assert (state_of(store, mine), state_of(store, other)) == (State.CANCELED, State.QUEUED)


@promise(2, 3)
def test_a_cancel_and_a_claim_at_once_agree(store: Store) -> None:
    add_jobs(store, 60)

    def cancel_or_claim(number: int) -> int:
        if number == 0:
            return store.jobs.change(JobFilter(kinds=("work",)), CANCEL).changed
        return len(claim_all(store, slots=60))

    answers = at_once(2, cancel_or_claim)

    assert [answer for answer in answers if isinstance(answer, Exception)] == []
    running = store.jobs.page(JobFilter(states=(State.RUNNING,)), limit=100).rows
    assert len(running) + count_of(store, states=(State.CANCELED,)) == 60
    assert len(running) == answers[1]


@promise(2, 3)
def test_every_cancel_beside_a_busy_claimer_is_heard(store: Store) -> None:
    ids = add_jobs(store, 150)

    def cancel_or_claim(number: int) -> list[str]:
        if number == 0:
            return [job_id for job_id in ids if cancel(store, job_id).changed != 1]
        return [job_id for _ in ids for job_id in claim_ids(store, slots=1)]

    unheard, claimed = at_once(2, cancel_or_claim)

    assert unheard == []
    assert isinstance(claimed, list)
    assert all(job_of(store, job_id).cancel_requested for job_id in claimed)
