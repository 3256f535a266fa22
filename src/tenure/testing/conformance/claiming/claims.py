"""Claiming: who gets which jobs, in which order, within which slots."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any

from tenure.core.capability import Capability
from tenure.core.job import NewJob, State
from tenure.core.lease import ClaimedJob
from tenure.core.timing.clock import to_micros
from tenure.stores.contract import Store
from tenure.testing.conformance.actions import (
    add,
    add_job,
    add_jobs,
    at_once,
    claim,
    claim_all,
    claim_ids,
    claim_one,
    count_of,
    job_of,
    settle,
    settle_done,
    state_of,
)
from tenure.testing.conformance.promise import needs, promise
from tenure.testing.tempo import Tempo


def test_an_empty_store_has_nothing_to_claim(store: Store) -> None:
    found = claim(store)

    assert (list(found.jobs), list(found.ended)) == ([], [])


@promise(2)
def test_a_claim_raises_attempt_and_fence(store: Store) -> None:
    job_id = add_job(store)
    job = claim_one(store, owner="a")

    assert (job.id, job.attempt, job.lease.fence, job.lease.owner) == (job_id, 1, 1, "a")
    stored = job_of(store, job_id)
    assert (stored.state, stored.attempt, stored.fence) == (State.RUNNING, 1, 1)
    assert stored.lease_owner == "a"


@promise(2)
def test_a_lease_runs_by_the_stores_clock(store: Store, tempo: Tempo) -> None:
    before = store.now()
    add_job(store)
    job = claim_one(store, seconds=tempo.hour)

    stored = job_of(store, job.id)
    assert stored.started_at == job.started_at
    assert stored.lease_until is not None
    assert before <= job.started_at <= store.now()
    lease = stored.lease_until - job.started_at
    assert abs(lease - timedelta(seconds=tempo.hour)) < timedelta(seconds=1)


@promise(2)
def test_a_claimed_job_is_not_claimed_by_another(store: Store) -> None:
    add_job(store)
    claim_one(store, owner="a")

    assert claim_ids(store, owner="b") == []
    assert claim_ids(store, owner="a") == []


def test_a_claimed_job_brings_what_a_run_needs(store: Store) -> None:
    options: dict[str, Any] = {
        "payload": '{"id": 1}',
        "priority": 1,
        "tenant": "acme",
        "owner": "ada",
    }
    add_job(store, max_attempts=3, correlation_id="req", trace="t", **options)

    job = claim_one(store)

    assert {name: getattr(job, name) for name in options} == options
    assert (job.kind, job.queue, job.max_attempts) == ("work", "default", 3)
    assert (job.correlation_id, job.trace) == ("req", "t")
    assert (job.snoozes, job.refunds, job.cancel_requested) == (0, 0, False)


@needs(Capability.EXPIRY)
def test_what_few_jobs_have_comes_with_them_and_with_nobody_else(store: Store) -> None:
    odd = 'é"\\\n🙂'
    until = store.now() + timedelta(days=9_000)
    rare: list[dict[str, Any]] = [
        {}, {"owner": odd}, {"correlation_id": odd}, {"trace": odd}, {"expires_at": until},
    ]  # fmt: skip
    add(store, *(NewJob(kind="work", **facts) for facts in rare))

    found = claim_all(store)

    assert [job.owner for job in found] == [None, odd, None, None, None]
    assert [job.correlation_id for job in found] == [None, None, odd, None, None]
    assert [job.trace for job in found] == [None, None, None, odd, None]
    expiring = [job.expires_micros for job in found]
    assert expiring == [None, None, None, None, to_micros(until)]


def test_a_job_that_was_put_off_brings_its_count_when_it_comes_again(store: Store) -> None:
    add_jobs(store, 3)
    plain, snoozed, released = claim_all(store)
    assert settle(store, plain, State.QUEUED)
    assert settle(store, snoozed, State.QUEUED, entry="snoozed", refund=True, snooze=True)
    assert settle(store, released, State.QUEUED, entry="released", refund=True)

    again = {job.id: (job.snoozes, job.refunds) for job in claim_all(store)}

    assert again == {plain.id: (0, 0), snoozed.id: (1, 0), released.id: (0, 1)}


@promise(8)
def test_the_smallest_priority_goes_first(store: Store) -> None:
    low, high, middle = (add_job(store, priority=number) for number in (3, 0, 2))

    assert claim_ids(store) == [high, middle, low]


@promise(8)
def test_a_better_priority_takes_every_slot_before_a_worse_one(store: Store) -> None:
    add_jobs(store, 5, priority=3)
    urgent = add_jobs(store, 5, priority=1, tenant="zz")

    assert claim_ids(store, slots=5) == urgent


@promise(8)
def test_a_negative_priority_goes_before_zero(store: Store) -> None:
    zero, below = add_job(store, priority=0), add_job(store, priority=-5)

    assert claim_ids(store) == [below, zero]


@promise(8)
def test_within_a_priority_the_earliest_run_at_goes_first(store: Store) -> None:
    now = store.now()
    late, early = (add_job(store, run_at=now - timedelta(seconds=ago)) for ago in (10, 20))

    assert claim_ids(store, slots=1) == [early]
    assert claim_ids(store, slots=1) == [late]


@promise(8)
def test_at_the_same_run_at_the_lowest_id_goes_first(store: Store) -> None:
    ids = add_jobs(store, 12, run_at=store.now() - timedelta(seconds=1))

    assert claim_ids(store, slots=5) == ids[:5]
    assert claim_ids(store) == ids[5:]


@promise(8)
@needs(Capability.SHARES)
def test_tenants_of_one_priority_share_the_slots(store: Store) -> None:
    add_jobs(store, 50, tenant="big")
    small = add_jobs(store, 2, tenant="small")

    claimed = claim_ids(store, slots=4)

    assert set(small) <= set(claimed)
    assert len(claimed) == 4


@promise(8)
def test_what_one_tenant_leaves_goes_to_the_others(store: Store) -> None:
    add_jobs(store, 1, tenant="small")
    add_jobs(store, 20, tenant="big")

    assert len(claim_ids(store, slots=10)) == 10


@promise(8)
@needs(Capability.SHARES)
def test_the_odd_slot_goes_round(store: Store) -> None:
    for tenant in "abc":
        add_jobs(store, 3, tenant=tenant)

    first = [claim_all(store, slots=1)[0].tenant for _ in range(3)]

    assert sorted(first) == ["a", "b", "c"]


@promise(8)
@needs(Capability.SHARES)
def test_a_tenant_gets_by_its_weight(store: Store) -> None:
    for tenant in "abc":
        add_jobs(store, 40, tenant=tenant)

    claimed = [claim_all(store, slots=6, weights={"a": 4.0}) for _ in range(5)]

    assert Counter(job.tenant for batch in claimed for job in batch) == {"a": 20, "b": 5, "c": 5}


@promise(9)
@needs(Capability.SHARES)
def test_a_tenant_with_one_job_does_not_wait_behind_anothers_many(store: Store) -> None:
    add_jobs(store, 200, tenant="big")
    claim_all(store, slots=10)
    lonely = add_job(store, tenant="small")

    assert lonely in claim_ids(store, slots=10)


@promise(9)
def test_hundreds_of_tenants_all_get_their_turn(store: Store) -> None:
    for _ in range(8):
        add(store, *[NewJob(kind="work", tenant=f"t{number:03}") for number in range(300)])

    had: Counter[str] = Counter()
    while had.total() < 1_200:
        had.update(job.tenant for job in claim_all(store, slots=100))

    assert sum(count >= 4 for count in had.values()) >= 290
    assert max(had.values()) <= 8


@promise(8)
def test_tenants_differ_by_case(store: Store) -> None:
    ids = [add_job(store, tenant=tenant) for tenant in ("a", "A", "á", "a ")]

    assert sorted(claim_ids(store)) == sorted(ids)


def test_a_claim_stays_within_the_slots_of_each_queue(store: Store) -> None:
    add_jobs(store, 5)
    add_jobs(store, 5, queue="pdf")

    claimed = claim_all(store, slots={"default": 3, "pdf": 1})

    assert sorted(job.queue for job in claimed) == ["default"] * 3 + ["pdf"]


def test_a_full_queue_does_not_hold_up_another(store: Store) -> None:
    add_jobs(store, 3, queue="pdf", priority=0)
    mail = add_job(store, queue="mail", priority=9)

    assert claim_ids(store, slots={"pdf": 0, "mail": 5}) == [mail]


def test_a_queue_that_is_not_asked_for_is_left_alone(store: Store) -> None:
    job_id = add_job(store, queue="pdf")

    assert claim_ids(store, slots={"default": 5}) == []
    assert claim_ids(store, slots={}) == []
    assert claim_ids(store, slots={"pdf": 1}) == [job_id]


@promise(11)
def test_a_job_of_an_unknown_kind_is_left_alone(store: Store) -> None:
    job_id = add_job(store, kind="future")

    assert claim_ids(store, kinds=["work"]) == []
    assert claim_ids(store, kinds=[]) == []
    job = job_of(store, job_id)
    assert (job.state, job.attempt, job.fence) == (State.QUEUED, 0, 0)
    assert claim_ids(store, kinds=["work", "future"]) == [job_id]


@promise(11)
def test_kinds_differ_by_case(store: Store) -> None:
    add_job(store, kind="Work")

    assert claim_ids(store, kinds=["work", "WORK"]) == []


@promise(11)
def test_unknown_kinds_at_the_head_of_a_lane_do_not_hide_known_ones(store: Store) -> None:
    add_jobs(store, 300, kind="future")
    known = add_job(store)

    assert claim_ids(store, slots=1) == [known]


@promise(11)
def test_a_lane_of_unknown_kinds_does_not_hide_another_lane(store: Store) -> None:
    add_jobs(store, 20, kind="future", tenant="a")
    known = add_job(store, tenant="b")

    assert claim_ids(store, slots=1) == [known]


@promise(7, 8)
def test_a_lane_of_later_jobs_does_not_hide_another_lane(store: Store) -> None:
    for tenant in "abcd":
        add_jobs(store, 5, tenant=tenant, delay_seconds=3600)
    due = add_job(store, tenant="e")

    assert claim_ids(store, slots=1) == [due]


@promise(2)
def test_four_claimers_at_once_never_claim_the_same_job(store: Store) -> None:
    ids = add_jobs(store, 300)

    def drain(number: int) -> list[ClaimedJob]:
        mine: list[ClaimedJob] = []
        while batch := claim_all(store, owner=f"w{number}", slots=10):
            settle_done(store, *batch)
            mine += batch
        return mine

    taken: list[ClaimedJob] = []
    for found in at_once(4, drain):
        assert not isinstance(found, Exception), found
        taken += found
    assert sorted(job.id for job in taken) == sorted(ids)
    assert count_of(store, states=(State.SUCCEEDED,)) == 300


@promise(1)
def test_jobs_added_while_others_are_claimed_are_all_claimed(store: Store) -> None:
    def add_or_drain(number: int) -> list[str]:
        if number % 2:
            return [job_id for _ in range(10) for job_id in add_jobs(store, 5)]
        return [job_id for _ in range(20) for job_id in claim_ids(store, slots=5)]

    answers = at_once(4, add_or_drain)
    assert [answer for answer in answers if isinstance(answer, Exception)] == []
    added = [job_id for answer in answers[1::2] for job_id in answer]  # type: ignore[union-attr]
    claimed = [job_id for answer in answers[::2] for job_id in answer]  # type: ignore[union-attr]
    while rest := claim_ids(store):
        claimed += rest
    assert sorted(claimed) == sorted(added)


def test_a_finished_job_is_not_claimed(store: Store) -> None:
    add_job(store)
    job = claim_one(store)
    settle_done(store, job)

    assert claim_ids(store) == []
    assert state_of(store, job.id) is State.SUCCEEDED
