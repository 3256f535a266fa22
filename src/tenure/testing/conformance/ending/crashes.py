"""Only the guilty pay for a crash: who had not begun, who is suspect, and who is convicted."""

from __future__ import annotations

from typing import Any

from tenure.core.capability import Capability
from tenure.core.job import State
from tenure.core.lease import ClaimedJob, Standing
from tenure.core.rules.run_again import MAX_REFUNDS
from tenure.stores.contract import Report, Store
from tenure.testing.conformance.actions import (
    add_job,
    add_jobs,
    cancel,
    claim,
    claim_all,
    claim_alone,
    claim_ids,
    claim_one,
    entries_of,
    job_of,
    kill_alone,
    settle,
    settle_done,
    start_job,
    state_of,
)
from tenure.testing.conformance.promise import needs, promise
from tenure.testing.tempo import Tempo

RESERVING = ("default",)


def reserve(store: Store, tempo: Tempo, **options: Any) -> list[ClaimedJob]:
    """Claimed ahead by a worker that will go silent."""
    return claim_all(
        store, owner="silent", lease_seconds=tempo.lease, reserving=RESERVING, **options
    )


@promise(4)
@needs(Capability.SUSPECTS, Capability.HISTORY)
def test_a_job_that_kills_every_worker_dies_with_its_last_attempt(
    store: Store, tempo: Tempo
) -> None:
    job_id = add_job(store, max_attempts=3)
    claim_one(store, seconds=tempo.lease)
    tempo.passes(31)
    for _ in range(3):
        claim_alone(store, tempo)
        tempo.passes(31)
    claim(store)

    job = job_of(store, job_id)
    assert (job.attempt, job.state, job.reason) == (3, State.DEAD, "worker_crashed")
    assert job.crashes == 4
    assert entries_of(store, job_id) == ["crashed"] * 4
    assert job.finished_at is not None


@promise(4)
@needs(Capability.SUSPECTS)
def test_a_claim_tells_which_jobs_it_buried(store: Store, tempo: Tempo) -> None:
    add_job(store, max_attempts=1)
    job_id = kill_alone(store, tempo)

    found = claim(store)

    assert list(found.jobs) == []
    assert list(found.ended) == [(job_id, State.DEAD, "worker_crashed")]


@promise(4)
@needs(Capability.SUSPECTS)
def test_a_buried_job_cannot_be_settled_by_its_last_holder(store: Store, tempo: Tempo) -> None:
    add_job(store, max_attempts=1)
    claim_all(store, lease_seconds=tempo.lease)
    tempo.passes(31)
    last = claim_alone(store, tempo)
    tempo.passes(31)
    claim(store)

    assert settle_done(store, last) == []
    assert state_of(store, last.id) is State.DEAD


@promise(4)
@needs(Capability.SUSPECTS)
def test_a_crash_costs_the_neighbours_nothing(store: Store, tempo: Tempo) -> None:
    ids = add_jobs(store, 5, max_attempts=1)
    claim_all(store, owner="silent", lease_seconds=tempo.lease)
    tempo.passes(31)

    again = claim_all(store, owner="b")

    assert [job.id for job in again] == ids
    assert {(job.attempt, job.standing) for job in again} == {(1, Standing.SUSPECT)}
    settle_done(store, *again)
    ended = [job_of(store, one) for one in ids]
    assert {(job.state, job.attempt, job.crashes) for job in ended} == {(State.SUCCEEDED, 1, 1)}


@promise(4)
@needs(Capability.CLAIM_AHEAD)
def test_what_was_only_reserved_loses_nothing_and_is_not_suspect(
    store: Store, tempo: Tempo
) -> None:
    job_id = add_job(store, max_attempts=1)
    [reserved] = reserve(store, tempo)
    assert reserved.standing == Standing.RESERVED
    tempo.passes(31)

    again = claim_one(store, owner="b")

    assert (again.id, again.attempt, again.standing) == (job_id, 1, Standing.SOUND)
    assert (job_of(store, job_id).crashes, job_of(store, job_id).refunds) == (0, 0)


@promise(4)
@needs(Capability.CLAIM_AHEAD)
def test_what_was_reserved_in_a_crash_begins_where_it_is_claimed_next(
    store: Store, tempo: Tempo
) -> None:
    """Else a job that kills quickly could do so for ever without being seen at work."""
    add_job(store)
    reserve(store, tempo)
    tempo.passes(31)
    [again] = reserve(store, tempo)
    assert again.standing == Standing.SOUND
    tempo.passes(31)

    assert claim_one(store, owner="b").standing == Standing.SUSPECT


@promise(4)
@needs(Capability.CLAIM_AHEAD)
def test_a_reserved_job_that_begins_is_held_like_any_other(store: Store, tempo: Tempo) -> None:
    add_job(store)
    [job] = reserve(store, tempo)
    assert store.jobs.report([Report(lease=job.lease, begun_ago=0.0)]) == frozenset()
    assert state_of(store, job.id) is State.RUNNING
    tempo.passes(31)

    assert claim_one(store, owner="b").standing == Standing.SUSPECT


@promise(3)
@needs(Capability.CLAIM_AHEAD)
def test_a_late_worker_cannot_say_that_its_job_has_begun(store: Store, tempo: Tempo) -> None:
    job_id = add_job(store)
    [late] = reserve(store, tempo)
    settle(store, late, State.QUEUED, refund=True, returned=True)
    reserve(store, tempo)
    store.jobs.report([Report(lease=late.lease, begun_ago=0.0)])

    assert job_of(store, job_id).reserved


@promise(4)
def test_a_suspect_that_ends_well_is_cleared(store: Store, tempo: Tempo) -> None:
    start_job(store, seconds=tempo.lease)
    tempo.passes(31)
    suspect = claim_one(store, owner="b")
    settle(store, suspect, State.QUEUED, entry="error")

    assert claim_one(store, owner="b").standing == Standing.SOUND


@promise(4)
@needs(Capability.SUSPECTS)
def test_a_suspect_whose_own_process_died_is_charged(store: Store, tempo: Tempo) -> None:
    start_job(store, seconds=tempo.lease, max_attempts=2)
    tempo.passes(31)
    suspect = claim_one(store, owner="b")
    settle(store, suspect, State.QUEUED, entry="crashed", crash=True)

    again = claim_one(store, owner="b")
    assert (again.attempt, again.standing) == (2, Standing.SUSPECT)
    assert job_of(store, again.id).crashes == 2


@promise(4)
@needs(Capability.SUSPECTS)
def test_a_crash_that_was_nobodys_fault_costs_nobody_an_attempt_but_not_for_ever(
    store: Store, tempo: Tempo
) -> None:
    """A worker that runs suspects in processes of their own died for another reason."""
    job_id = add_job(store, max_attempts=1)
    for _ in range(MAX_REFUNDS):
        assert claim_one(store, seconds=tempo.lease).attempt == 1
        tempo.passes(31)
    assert claim_one(store, seconds=tempo.lease).id == job_id
    tempo.passes(31)
    claim(store)

    assert state_of(store, job_id) is State.DEAD


@promise(14)
@needs(Capability.CLAIM_AHEAD, Capability.EXPIRY)
def test_a_reserved_job_may_still_expire_when_its_worker_died(store: Store, tempo: Tempo) -> None:
    job_id = add_job(store, expires_seconds=tempo.seconds(20))
    reserve(store, tempo)
    tempo.passes(31)

    assert claim_ids(store, owner="b") == []
    assert (state_of(store, job_id), job_of(store, job_id).reason) == (State.CANCELED, "expired")


@promise(4)
@needs(Capability.CLAIM_AHEAD)
def test_a_cancelled_job_that_was_reserved_ends_cancelled(store: Store, tempo: Tempo) -> None:
    add_job(store)
    [job] = reserve(store, tempo)
    cancel(store, job.id)
    tempo.passes(31)
    claim(store)

    assert state_of(store, job.id) is State.CANCELED
