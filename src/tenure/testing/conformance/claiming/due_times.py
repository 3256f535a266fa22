"""When a job may start: never before its time, and not after it expired."""

from __future__ import annotations

from datetime import timedelta

from tenure.core.capability import Capability
from tenure.core.job import NewJob, State
from tenure.stores.contract import Move, Store
from tenure.testing.conformance.actions import (
    HOUR,
    add,
    add_job,
    add_jobs,
    claim,
    claim_all,
    claim_ids,
    claim_one,
    claim_until,
    count_of,
    entries_of,
    job_of,
    keyed,
    move,
    settle,
    state_of,
)
from tenure.testing.conformance.promise import needs, promise
from tenure.testing.tempo import Tempo


@promise(7)
def test_a_job_of_later_is_not_claimed_now(store: Store) -> None:
    add_job(store, run_at=store.now() + timedelta(hours=1))
    due = add_job(store, run_at=store.now() - timedelta(hours=1))

    assert claim_ids(store) == [due]


@promise(7)
def test_a_job_is_claimed_when_its_time_has_come(store: Store, tempo: Tempo) -> None:
    job_id = add_job(store, delay_seconds=tempo.seconds(30))
    tempo.passes(31)

    assert claim_ids(store) == [job_id]


@promise(7)
def test_no_job_starts_before_its_run_at(store: Store, tempo: Tempo) -> None:
    for wait in range(1, 11):
        add_job(store, delay_seconds=tempo.seconds(wait))
    started = 0
    for _ in range(11):
        for job in claim_all(store):
            assert job.started_at >= job_of(store, job.id).run_at
            started += 1
        tempo.passes(1)

    assert started + len(claim_all(store)) == 10


@promise(7)
def test_a_retry_waits_for_its_backoff(store: Store, tempo: Tempo) -> None:
    add_job(store)
    settle(store, claim_one(store), State.QUEUED, entry="error", delay_seconds=tempo.hour)

    assert claim_ids(store) == []


@promise(7)
def test_a_retry_is_claimed_when_its_backoff_is_over(store: Store, tempo: Tempo) -> None:
    add_job(store)
    first = claim_one(store)
    settle(store, first, State.QUEUED, entry="error", delay_seconds=tempo.seconds(20))
    planned = job_of(store, first.id).run_at
    tempo.passes(21)

    second = claim_one(store)
    assert (second.id, second.attempt) == (first.id, 2)
    assert second.started_at >= planned


@promise(14)
@needs(Capability.EXPIRY)
def test_a_job_not_started_in_time_ends_cancelled(store: Store, tempo: Tempo) -> None:
    job_id = add_job(store, expires_at=tempo.from_now(10))
    tempo.passes(11)

    found = claim(store)

    assert list(found.jobs) == []
    assert list(found.ended) == [(job_id, State.CANCELED, "expired")]
    job = job_of(store, job_id)
    assert (job.state, job.reason, job.attempt) == (State.CANCELED, "expired", 0)
    assert job.finished_at is not None


@promise(14)
@needs(Capability.EXPIRY)
def test_expiry_may_be_given_in_seconds_of_the_stores_clock(store: Store, tempo: Tempo) -> None:
    job_id = add_job(store, expires_seconds=tempo.seconds(10))
    tempo.passes(11)

    assert claim_ids(store) == []
    assert job_of(store, job_id).reason == "expired"


@promise(14)
@needs(Capability.EXPIRY)
def test_a_job_is_claimed_until_it_expires(store: Store, tempo: Tempo) -> None:
    job_id = add_job(store, expires_seconds=tempo.hour)

    assert claim_ids(store) == [job_id]


@promise(14)
@needs(Capability.EXPIRY)
def test_a_job_that_has_started_once_no_longer_expires(store: Store, tempo: Tempo) -> None:
    job_id = add_job(store, expires_seconds=tempo.seconds(30))
    settle(store, claim_one(store), State.QUEUED, entry="error")
    tempo.passes(31)

    assert claim_ids(store) == [job_id]


@promise(14)
@needs(Capability.EXPIRY)
def test_a_job_may_expire_before_its_run_at(store: Store, tempo: Tempo) -> None:
    job_id = add_job(store, delay_seconds=tempo.hour, expires_seconds=tempo.seconds(10))
    tempo.passes(11)
    claim(store)

    assert job_of(store, job_id).reason == "expired"


@promise(14)
@needs(Capability.EXPIRY)
def test_expiry_needs_no_worker_that_knows_the_kind(store: Store, tempo: Tempo) -> None:
    job_id = add_job(store, kind="future", queue="far", expires_seconds=tempo.seconds(10))
    tempo.passes(11)
    claim(store)

    assert state_of(store, job_id) is State.CANCELED


@promise(14)
@needs(Capability.EXPIRY)
def test_expired_jobs_do_not_hide_others(store: Store, tempo: Tempo) -> None:
    add_jobs(store, 150, expires_seconds=tempo.seconds(10))
    tempo.passes(11)
    alive = add_job(store)

    assert claim_ids(store, slots=1) == [alive]
    claim_until(store, lambda: count_of(store, states=(State.CANCELED,)) == 150)


@promise(5, 14)
@needs(Capability.EXPIRY, Capability.UNIQUE_KEYS)
def test_an_expired_job_gives_its_key_back(store: Store, tempo: Tempo) -> None:
    add(store, keyed("k", "1", expires_seconds=tempo.seconds(10)))
    tempo.passes(11)
    claim(store)

    assert add(store, keyed("k", "2"))[0].created


@promise(14)
@needs(Capability.EXPIRY)
def test_an_operator_who_retries_an_expired_job_means_it(store: Store, tempo: Tempo) -> None:
    job_id = add_job(store, expires_seconds=tempo.seconds(10))
    tempo.passes(11)
    claim(store)

    assert move(store, job_id, Move.RETRY).changed == 1
    assert claim_ids(store) == [job_id]


@needs(Capability.HISTORY)
def test_a_moment_far_ahead_is_kept(store: Store) -> None:
    far = store.now() + timedelta(days=365 * 200)
    [added] = add(store, NewJob(kind="work", run_at=far))

    assert job_of(store, added.id).run_at == far
    assert entries_of(store, added.id) == []


@promise(8)
def test_lanes_with_nothing_due_do_not_hide_the_ones_behind_them(store: Store) -> None:
    later = [NewJob(kind="work", tenant=f"t{n:04}", delay_seconds=HOUR) for n in range(300)]
    unknown = [NewJob(kind="unknown", tenant=f"u{n:04}") for n in range(300)]
    add(store, *later, *unknown)
    second = add_job(store, tenant="zzz", priority=3)
    first = add_job(store, tenant="zzz")

    assert claim_ids(store, owner="one", slots=1) == [first]
    assert claim_ids(store, owner="two", slots=1) == [second]


@promise(8)
def test_a_look_that_is_bounded_goes_on_next_time(store: Store) -> None:
    names = [f"t{number:04}" for number in range(2300)]
    add(store, *[NewJob(kind="work", tenant=name, delay_seconds=HOUR) for name in names])
    hidden = add_job(store, tenant="zzz")

    claim_until(store, lambda: state_of(store, hidden) is State.RUNNING)
