"""Jobs that are claimed ahead of a free slot: still waiting, and given back as they were."""

from __future__ import annotations

from typing import Any

from tenure.core.capability import Capability
from tenure.core.filter import JobFilter
from tenure.core.job import State
from tenure.core.lease import ClaimedJob
from tenure.core.rules.limits import Limit, Limits
from tenure.stores.contract import Report, Store
from tenure.testing.conformance.actions import (
    add_job,
    add_jobs,
    cancel,
    claim_all,
    claim_ids,
    claim_one,
    entries_of,
    job_of,
    settle,
    settle_done,
    state_of,
)
from tenure.testing.conformance.promise import needs, promise
from tenure.testing.tempo import Tempo


def reserve(store: Store, **options: Any) -> list[ClaimedJob]:
    return claim_all(store, owner="ahead", reserving=("default",), **options)


def give_back(store: Store, job: ClaimedJob) -> bool:
    return settle(store, job, State.QUEUED, refund=True, returned=True)


@promise(2)
@needs(Capability.CLAIM_AHEAD, Capability.COUNTS)
def test_a_reserved_job_is_not_running(store: Store) -> None:
    job_id = add_job(store)
    reserve(store)

    job = job_of(store, job_id)
    assert (job.state, job.reserved, job.started_at) == (State.QUEUED, True, None)
    assert job.lease_owner == "ahead"
    assert store.jobs.count(JobFilter()) == {State.QUEUED: 1}
    [depth] = store.queues.depths()
    assert (depth.state, depth.jobs) == (State.QUEUED, 1)


@promise(2)
@needs(Capability.CLAIM_AHEAD)
def test_lists_show_reserved_jobs_among_those_that_wait(store: Store) -> None:
    reserved = add_job(store)
    reserve(store)
    begun = add_job(store)
    claim_one(store)

    def listed(*states: State) -> list[str]:
        return [job.id for job in store.jobs.page(JobFilter(states=states)).rows]

    assert listed(State.QUEUED) == [reserved]
    assert listed(State.RUNNING) == [begun]
    assert listed(State.QUEUED, State.RUNNING) == [begun, reserved]


@promise(2)
@needs(Capability.CLAIM_AHEAD)
def test_it_is_running_as_soon_as_it_says_so(store: Store) -> None:
    add_job(store)
    [job] = reserve(store)
    store.jobs.report([Report(lease=job.lease, begun_ago=0.0)])

    shown = job_of(store, job.id)
    assert (shown.state, shown.reserved) == (State.RUNNING, False)
    assert shown.started_at is not None


@promise(3)
@needs(Capability.CLAIM_AHEAD)
def test_a_reserved_job_can_be_settled_without_a_word_before(store: Store) -> None:
    add_job(store)
    [job] = reserve(store)

    assert settle_done(store, job) == [job.id]
    assert state_of(store, job.id) is State.SUCCEEDED


@promise(4, 8)
@needs(Capability.CLAIM_AHEAD, Capability.HISTORY)
def test_a_job_that_is_given_back_is_as_it_was(store: Store) -> None:
    job_id = add_job(store)
    before = job_of(store, job_id)
    [job] = reserve(store)

    assert give_back(store, job)
    after = job_of(store, job_id)
    assert (after.state, after.attempt, after.refunds) == (State.QUEUED, 0, 0)
    assert (after.run_at, after.started_at, after.lease_until) == (before.run_at, None, None)
    assert entries_of(store, job_id) == []
    assert claim_one(store, owner="b").attempt == 1


@promise(8)
@needs(Capability.CLAIM_AHEAD)
def test_what_is_given_back_goes_before_what_came_later(store: Store) -> None:
    first, second = add_jobs(store, 2)
    taken = reserve(store)
    add_job(store)
    for job in taken:
        give_back(store, job)

    assert claim_ids(store, owner="ahead", slots=2) == [first, second]


@promise(3)
@needs(Capability.CLAIM_AHEAD)
def test_a_late_worker_cannot_give_back_what_is_no_longer_its_own(
    store: Store, tempo: Tempo
) -> None:
    add_job(store)
    [late] = reserve(store, lease_seconds=tempo.lease)
    tempo.passes(31)
    claim_one(store, owner="b")

    assert not give_back(store, late)
    assert state_of(store, late.id) is State.RUNNING


@promise(14)
@needs(Capability.CLAIM_AHEAD, Capability.EXPIRY)
def test_a_job_that_is_given_back_may_still_expire(store: Store, tempo: Tempo) -> None:
    job_id = add_job(store, expires_seconds=tempo.seconds(20))
    [job] = reserve(store)
    give_back(store, job)
    tempo.passes(31)

    assert claim_ids(store) == []
    assert job_of(store, job_id).reason == "expired"


@promise(6)
@needs(Capability.CLAIM_AHEAD)
def test_a_cancel_meets_a_reserved_job_when_it_is_given_back(store: Store) -> None:
    add_job(store)
    [job] = reserve(store)
    cancel(store, job.id)

    assert give_back(store, job)
    assert (state_of(store, job.id), job_of(store, job.id).reason) == (State.CANCELED, "canceled")


@promise(14)
@needs(Capability.CLAIM_AHEAD, Capability.EXPIRY)
def test_a_job_that_has_started_once_does_not_expire_when_it_is_given_back(
    store: Store, tempo: Tempo
) -> None:
    snoozed = add_job(store, expires_seconds=tempo.seconds(20))
    settle(store, claim_one(store), State.QUEUED, entry="snoozed", refund=True, snooze=True)
    for job in reserve(store):
        give_back(store, job)
    tempo.passes(31)

    assert claim_ids(store) == [snoozed]


@promise(14)
@needs(Capability.EXPIRY)
def test_a_suspect_does_not_expire_when_it_is_given_back(store: Store, tempo: Tempo) -> None:
    suspect = add_job(store, expires_seconds=tempo.seconds(60))
    claim_one(store, seconds=tempo.lease)
    tempo.passes(31)
    give_back(store, claim_one(store, owner="b"))
    tempo.passes(31)

    assert claim_ids(store, owner="b") == [suspect]


@promise(17)
@needs(Capability.LIMITS)
def test_a_job_that_is_given_back_leaves_its_token_to_others(store: Store) -> None:
    hourly = Limits(kinds={"work": Limit(rate=1, per=3_600, burst=1)})
    first, _ = add_jobs(store, 2)
    [job] = claim_all(store, limits=hourly)
    assert claim_all(store, limits=hourly) == []

    assert give_back(store, job)
    [again] = claim_all(store, limits=hourly)
    assert again.id == first
    assert claim_all(store, limits=hourly) == []
