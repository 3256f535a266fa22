"""Ordering keys: one at a time, in the order of commits, and every way out lets the next one go."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest

from tenure.core.capability import Capability
from tenure.core.filter import JobFilter
from tenure.core.job import NewJob, State
from tenure.core.lease import ClaimedJob
from tenure.stores.contract import Change, Move, Store
from tenure.testing.conformance.actions import (
    add,
    add_job,
    at_once,
    claim_all,
    claim_ids,
    claim_one,
    ids_of,
    job_of,
    kill_alone,
    settle,
    settle_done,
    state_of,
)
from tenure.testing.conformance.promise import needs, promise
from tenure.testing.tempo import Tempo

NEEDS = (Capability.ORDER,)


def ordered(store: Store, count: int, key: str = "a", **options: Any) -> list[str]:
    """Jobs of one key, added one after the other."""
    return [add_job(store, ordering_key=key, **options) for _ in range(count)]


def run_in_order(store: Store) -> list[str]:
    """Claim and settle until nothing is left; the order in which they came."""
    came: list[str] = []
    while got := claim_all(store):
        for job in got:
            came.append(job.id)
            settle_done(store, job)
    return came


@promise(8)
def test_one_job_of_a_key_runs_at_a_time(store: Store) -> None:
    first, second, third = ordered(store, 3)
    other = add_job(store, ordering_key="b")

    assert sorted(claim_ids(store)) == sorted([first, other])
    assert claim_ids(store) == []
    assert [job_of(store, one).hold != 0 for one in (first, second, third)] == [False, True, True]


@promise(8)
def test_they_come_in_the_order_they_were_added(store: Store) -> None:
    ids = ordered(store, 10)

    assert run_in_order(store) == ids


@promise(8)
def test_jobs_of_one_call_are_in_order_too(store: Store) -> None:
    jobs = [NewJob(kind="work", ordering_key=key) for key in "aabab"]
    ids = [added.id for added in add(store, *jobs)]

    assert sorted(claim_ids(store)) == sorted([ids[0], ids[2]])


@promise(8)
def test_a_key_belongs_to_its_tenant(store: Store) -> None:
    ids = [add_job(store, ordering_key="a", tenant=tenant) for tenant in ("x", "y")]

    assert sorted(claim_ids(store)) == sorted(ids)


@promise(8)
def test_the_next_one_goes_whatever_its_priority_and_time(store: Store, tempo: Tempo) -> None:
    first = add_job(store, ordering_key="a", delay_seconds=tempo.seconds(60))
    second = add_job(store, ordering_key="a", priority=0)

    assert claim_ids(store) == []
    tempo.passes(61)
    assert run_in_order(store) == [first, second]


@promise(8)
def test_a_retry_keeps_its_place(store: Store, tempo: Tempo) -> None:
    first, second = ordered(store, 2)
    assert settle(
        store, claim_one(store), State.QUEUED, entry="error", delay_seconds=tempo.seconds(30)
    )

    assert claim_ids(store) == []
    tempo.passes(31)
    assert run_in_order(store) == [first, second]


@promise(8)
@pytest.mark.parametrize("state", [State.SUCCEEDED, State.CANCELED, State.NOT_FOUND, State.SKIPPED])
def test_an_end_lets_the_next_one_go(store: Store, state: State) -> None:
    _, second = ordered(store, 2)
    assert settle(store, claim_one(store), state)

    assert claim_ids(store) == [second]


@promise(8)
@pytest.mark.parametrize("state", [State.FAILED, State.DEAD])
def test_a_failure_blocks_its_key_until_an_operator_has_decided(store: Store, state: State) -> None:
    first, second = ordered(store, 2)
    assert settle(store, claim_one(store), state, entry="failed")

    assert claim_ids(store) == []
    third = add_job(store, ordering_key="a")
    assert claim_ids(store) == []
    store.jobs.change(JobFilter(ids=(first,)), Change(move=Move.RETRY, actor="ada"))
    assert run_in_order(store) == [first, second, third]


@promise(8)
def test_a_failed_job_that_is_cancelled_lets_the_next_one_go(store: Store) -> None:
    first, second = ordered(store, 2)
    assert settle(store, claim_one(store), State.DEAD, entry="error")
    store.jobs.change(JobFilter(ids=(first,)), Change(move=Move.CANCEL, actor="ada"))

    assert claim_ids(store) == [second]


@promise(8)
def test_a_failed_job_that_is_purged_lets_the_next_one_go(store: Store, tempo: Tempo) -> None:
    first, second = ordered(store, 2)
    assert settle(store, claim_one(store), State.DEAD, entry="error")
    tempo.passes(10)
    before = store.now() - timedelta(seconds=tempo.seconds(1))
    done = store.jobs.purge(JobFilter(states=(State.DEAD,)), before=before)

    assert (done.removed, store.jobs.get(first)) == (1, None)
    assert claim_ids(store) == [second]


@promise(8)
@pytest.mark.parametrize("state", [State.FAILED, State.DEAD])
def test_a_failure_is_skipped_where_that_was_asked_for(store: Store, state: State) -> None:
    _, second = ordered(store, 2, skips=True)
    assert settle(store, claim_one(store), state, entry="failed")

    assert claim_ids(store) == [second]


@promise(8)
def test_a_skipped_job_that_is_retried_waits_for_its_turn(store: Store) -> None:
    first, second, third = ordered(store, 3, skips=True)
    assert settle(store, claim_one(store), State.DEAD, entry="error")
    running = claim_one(store)
    store.jobs.change(JobFilter(ids=(first,)), Change(move=Move.RETRY, actor="ada"))

    assert claim_ids(store) == []
    settle_done(store, running)
    assert running.id == second
    assert run_in_order(store) == [first, third]


@promise(8)
def test_a_cancelled_head_lets_the_next_one_go_and_another_does_not(store: Store) -> None:
    first, second, third = ordered(store, 3)
    store.jobs.change(JobFilter(ids=(second,)), Change(move=Move.CANCEL, actor="ada"))

    assert claim_ids(store, owner="a") == [first]
    assert claim_ids(store, owner="a") == []
    store.jobs.change(JobFilter(ids=(first,)), Change(move=Move.CANCEL, actor="ada"))
    [running] = [job_of(store, first)]
    assert running.cancel_requested
    assert state_of(store, third) is State.QUEUED


@promise(8)
@needs(Capability.EXPIRY)
def test_an_expired_head_lets_the_next_one_go(store: Store, tempo: Tempo) -> None:
    first = add_job(
        store,
        ordering_key="a",
        expires_seconds=tempo.seconds(10),
        delay_seconds=tempo.seconds(20),
    )
    second = add_job(store, ordering_key="a")
    tempo.passes(11)

    assert claim_ids(store) == [second]
    assert state_of(store, first) is State.CANCELED


@promise(4, 8)
def test_a_holder_that_went_silent_keeps_its_place(store: Store, tempo: Tempo) -> None:
    first, second = ordered(store, 2)
    claim_one(store, owner="silent", seconds=tempo.lease)
    tempo.passes(31)

    again = claim_one(store, owner="b")
    assert (again.id, claim_ids(store, owner="b")) == (first, [])
    settle_done(store, again)
    assert claim_ids(store, owner="b") == [second]


@promise(4, 8)
@needs(Capability.SUSPECTS)
def test_a_buried_head_blocks_its_key(store: Store, tempo: Tempo) -> None:
    first, _ = ordered(store, 2, max_attempts=1)
    kill_alone(store, tempo)

    assert claim_ids(store, owner="b") == []
    assert state_of(store, first) is State.DEAD


@promise(3, 8)
def test_a_stale_holder_promotes_nobody(store: Store, tempo: Tempo) -> None:
    ordered(store, 2)
    stale = claim_one(store, owner="silent", seconds=tempo.lease)
    tempo.passes(31)
    claim_one(store, owner="b")

    assert settle_done(store, stale) == []
    assert claim_ids(store, owner="b") == []


@promise(8)
def test_many_that_add_and_end_at_once_keep_the_order(store: Store) -> None:
    """Whoever has the key's lock commits before the next one gets its id."""
    running = threading.Lock()
    came: list[str] = []

    def publish(number: int) -> list[str]:
        return [add_job(store, ordering_key="a") for _ in range(5)]

    def work(number: int) -> None:
        for _ in range(40):
            for job in claim_all(store, owner=f"w{number}"):
                assert running.acquire(blocking=False), "two jobs of one key run at once"
                came.append(job.id)
                running.release()
                settle_done(store, job)

    answers = at_once(6, lambda number: publish(number) if number % 2 else work(number))
    assert [answer for answer in answers if isinstance(answer, Exception)] == []
    came += run_in_order(store)

    assert came == ids_of(store)
    assert len(came) == 15


def test_a_settlement_says_what_it_applied_of_both_sorts(store: Store) -> None:
    add_job(store, ordering_key="a")
    add_job(store)
    jobs: list[ClaimedJob] = claim_all(store)

    assert sorted(settle_done(store, *jobs)) == sorted(job.id for job in jobs)
    assert settle_done(store, *jobs) == []
