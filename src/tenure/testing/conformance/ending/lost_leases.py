"""Leases that ran out: claimed again at once, or ended when nothing is left to try."""

from __future__ import annotations

from tenure.core.capability import Capability
from tenure.core.job import State
from tenure.core.lease import ClaimedJob
from tenure.stores.contract import Report, Store
from tenure.testing.conformance.actions import (
    add_job,
    add_jobs,
    at_once,
    cancel,
    claim,
    claim_all,
    claim_ids,
    claim_one,
    job_of,
    settle_done,
    start_job,
    state_of,
)
from tenure.testing.conformance.promise import needs, promise
from tenure.testing.tempo import Tempo

PATIENCE = 300  # claims: on a slow machine a dear look has to wait


@promise(1, 2, 4)
@needs(Capability.SUSPECTS)
def test_a_lease_that_ran_out_is_claimed_again_at_once(store: Store, tempo: Tempo) -> None:
    first = start_job(store, seconds=tempo.lease)
    tempo.passes(31)

    second = claim_one(store, owner="b")

    assert second.id == first.id
    assert (second.attempt, second.lease.fence, second.lease.owner) == (1, 2, "b")
    assert second.started_at > first.started_at


@promise(1)
def test_a_claim_says_what_its_last_holder_left_behind(store: Store, tempo: Tempo) -> None:
    left = start_job(store, seconds=tempo.lease)
    fresh = add_job(store)
    tempo.passes(31)

    got = claim(store, owner="b", thorough=True)

    assert {job.id for job in got.jobs} == {left.id, fresh}
    assert got.released == {left.id: "default"}


@promise(3)
def test_a_late_worker_cannot_settle_an_overtaken_lease(store: Store, tempo: Tempo) -> None:
    add_job(store)
    first = claim_one(store, owner="a", seconds=tempo.lease)
    tempo.passes(31)
    second = claim_one(store, owner="b")

    assert settle_done(store, first) == []
    assert state_of(store, second.id) is State.RUNNING
    assert settle_done(store, second) == [second.id]


@promise(3)
def test_a_late_worker_whom_nobody_overtook_may_still_settle(store: Store, tempo: Tempo) -> None:
    job = start_job(store, seconds=tempo.lease)
    tempo.passes(31)

    assert settle_done(store, job) == [job.id]


@promise(4)
@needs(Capability.HISTORY)
def test_a_crash_is_a_line_of_history_of_its_own_kind(store: Store, tempo: Tempo) -> None:
    first = start_job(store, seconds=tempo.lease)
    tempo.passes(31)
    claim_one(store, owner="b")

    [line] = store.jobs.history(first.id)
    assert (line.entry, line.fence, line.attempt, line.worker) == ("crashed", 1, 1, "worker")
    assert line.failure is not None
    assert line.failure["code"] == "worker_crashed"
    assert line.started_at == first.started_at


@promise(4)
def test_a_cancelled_job_whose_worker_died_ends_cancelled(store: Store, tempo: Tempo) -> None:
    job = start_job(store, seconds=tempo.lease)
    cancel(store, job.id)
    tempo.passes(31)

    found = claim(store)

    assert list(found.jobs) == []
    assert list(found.ended) == [(job.id, State.CANCELED, "canceled")]
    assert state_of(store, job.id) is State.CANCELED


@promise(11)
def test_a_lease_of_an_unknown_kind_is_left_to_those_who_know_it(
    store: Store, tempo: Tempo
) -> None:
    job_id = add_job(store, kind="future")
    claim_all(store, kinds=["future"], lease_seconds=tempo.lease)
    tempo.passes(31)

    assert claim_ids(store, kinds=["work"]) == []
    assert state_of(store, job_id) is State.QUEUED
    assert len(claim_ids(store, kinds=["future"])) == 1


@promise(2)
def test_recovered_jobs_stay_within_the_slots(store: Store, tempo: Tempo) -> None:
    add_jobs(store, 6)
    claim_all(store, lease_seconds=tempo.lease)
    waiting = add_job(store)
    tempo.passes(31)

    claims: list[list[str]] = []
    while len(claims) < PATIENCE and sum(map(len, claims)) < 7:
        claims.append(claim_ids(store, slots=4))
        tempo.passes(1)

    assert max(len(ids) for ids in claims) <= 4
    assert sum(len(ids) for ids in claims) == 7
    assert any(waiting in ids for ids in claims)


@promise(2)
def test_a_lease_that_ran_out_is_claimed_by_one_of_many(store: Store, tempo: Tempo) -> None:
    ids = add_jobs(store, 40)
    claim_all(store, lease_seconds=tempo.lease)
    tempo.passes(31)

    answers = at_once(4, lambda number: claim_all(store, owner=f"w{number}", slots=20))

    taken: list[ClaimedJob] = []
    for answer in answers:
        assert not isinstance(answer, Exception), answer
        taken += answer
    taken += claim_all(store)
    assert sorted(job.id for job in taken) == sorted(ids)
    assert {job.lease.fence for job in taken} == {2}


@promise(2)
@needs(Capability.REPORTS)
def test_a_recovered_job_starts_with_clean_progress(store: Store, tempo: Tempo) -> None:
    job = start_job(store, seconds=tempo.lease)
    store.jobs.report([Report(lease=job.lease, progress=0.5, note="half")])
    tempo.passes(31)
    claim_one(store)

    stored = job_of(store, job.id)
    assert (stored.progress, stored.progress_note) == (None, None)


@promise(1)
def test_abandoned_jobs_are_released_in_bulk_and_compete_by_age(store: Store, tempo: Tempo) -> None:
    left = add_jobs(store, 30)
    claim_all(store, owner="silent", lease_seconds=tempo.lease)
    add_jobs(store, 30)
    tempo.passes(31)

    found = claim(store, owner="b", slots=4, thorough=True)

    assert len(found.released) == 30
    assert [job.id for job in found.jobs] == left[:4]
    assert claim_ids(store, owner="b", slots=26) == left[4:]


@promise(1)
@needs(Capability.PAUSE)
def test_a_job_of_a_paused_queue_is_recovered_after_it_resumes(store: Store, tempo: Tempo) -> None:
    job = start_job(store, seconds=tempo.lease)
    store.queues.pause("default", "ada")
    tempo.passes(31)
    assert claim_ids(store) == []

    store.queues.resume("default", "ada")
    assert claim_ids(store) == [job.id]


@promise(1)
def test_a_full_queue_that_left_many_behind_does_not_hide_another(
    store: Store, tempo: Tempo
) -> None:
    for queue, count in (("pdf", 150), ("mail", 2)):
        add_jobs(store, count, queue=queue)
        assert len(claim_all(store, slots={queue: 200}, lease_seconds=tempo.lease)) == count
    tempo.passes(31)

    found = claim_all(store, owner="b", slots={"pdf": 1, "mail": 10})

    assert sorted(job.queue for job in found) == ["mail", "mail", "pdf"]
