"""Limits: how many run at a time, how fast they start; by kind, by key, by tenant."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from tenure.core.capability import Capability
from tenure.core.job import State
from tenure.core.lease import ClaimedJob
from tenure.core.rules.limits import Limit, Limits
from tenure.core.rules.order import Hold
from tenure.stores.contract import ClaimRequest, Store
from tenure.testing.conformance.actions import (
    HOUR,
    add_job,
    add_jobs,
    at_once,
    cancel,
    claim_all,
    claim_ids,
    job_of,
    settle,
    settle_done,
    state_of,
)
from tenure.testing.conformance.promise import needs, promise
from tenure.testing.tempo import Tempo

NEEDS = (Capability.LIMITS,)

TWO = Limits(kinds={"work": Limit(running=2)})
TWO_A_KEY = Limits(keys={"work": Limit(running=2)})
BOTH = ("work", "other")


@promise(17)
def test_no_more_of_a_kind_run_than_its_limit(store: Store) -> None:
    first, second, third = add_jobs(store, 3)

    assert claim_ids(store, limits=TWO) == [first, second]
    assert claim_ids(store, owner="b", limits=TWO) == []
    assert (job_of(store, third).hold, job_of(store, third).attempt) == (Hold.LIMIT, 0)


@promise(17)
def test_the_end_of_one_makes_room_for_the_next(store: Store) -> None:
    ids = add_jobs(store, 4)
    running = claim_all(store, limits=TWO)

    settle_done(store, running[0])
    assert claim_ids(store, limits=TWO) == ids[2:3]
    settle_done(store, running[1])
    assert claim_ids(store, owner="b", limits=TWO) == ids[3:]


@promise(17)
def test_a_full_kind_does_not_stand_before_another(store: Store) -> None:
    add_jobs(store, 50)
    other = add_jobs(store, 3, kind="other")
    claim_all(store, kinds=BOTH, slots=2, limits=TWO)

    found: list[str] = []
    for _ in range(60):
        found += claim_ids(store, kinds=BOTH, slots=3, limits=TWO)
    assert found == other


@promise(17)
def test_a_claim_that_turned_some_away_says_that_there_may_be_more(store: Store) -> None:
    add_jobs(store, 5)
    request = ClaimRequest(
        owner="a", kinds=["work"], slots={"default": 4}, lease_seconds=HOUR, limits=TWO
    )

    assert store.jobs.claim(request).look_in == 0.0
    store.jobs.claim(replace(request, thorough=True))
    assert store.jobs.claim(replace(request, thorough=True)).look_in is None


@promise(17)
def test_parked_jobs_keep_their_order(store: Store) -> None:
    late = add_jobs(store, 3, priority=3)
    first = claim_all(store, limits=TWO)
    urgent = add_job(store, priority=0)
    settle_done(store, *first)

    assert claim_ids(store, slots=1, limits=TWO) == [urgent]
    assert claim_ids(store, slots=1, limits=TWO) == late[2:]


@promise(17)
@promise(8)
def test_tenants_share_what_a_limit_leaves(store: Store) -> None:
    for tenant in ("a", "b"):
        add_jobs(store, 20, tenant=tenant)
    had: Counter[str] = Counter()
    for _ in range(10):
        running = claim_all(store, limits=TWO)
        had.update(job.tenant for job in running)
        settle_done(store, *running)

    assert had == {"a": 10, "b": 10}


@promise(17)
@promise(4)
def test_a_crashed_holders_place_is_free_when_its_lease_is_over(store: Store, tempo: Tempo) -> None:
    crashed = add_jobs(store, 2)
    claim_all(store, owner="a", lease_seconds=tempo.lease, limits=TWO)
    waiting = add_jobs(store, 2)
    assert claim_ids(store, owner="b", limits=TWO) == []
    tempo.passes(31)

    running = claim_all(store, owner="b", limits=TWO)
    assert len(running) == 2
    for _ in range(3):
        settle_done(store, *running)
        running = claim_all(store, owner="b", limits=TWO)
        assert len(running) <= 2
    states = {state_of(store, job_id) for job_id in crashed + waiting}
    assert states == {"succeeded"}
    assert all(job_of(store, job_id).crashes == 1 for job_id in crashed)


@promise(17)
def test_a_failed_attempt_gives_its_place_back(store: Store) -> None:
    first, second, third = add_jobs(store, 3)
    running = claim_all(store, limits=TWO)
    settle(store, running[0], State.QUEUED, delay_seconds=HOUR)

    assert claim_ids(store, limits=TWO) == [third]
    assert {running[0].id, running[1].id} == {first, second}


@promise(17)
def test_many_claimers_at_once_keep_a_limit(store: Store) -> None:
    add_jobs(store, 40)
    five = Limits(kinds={"work": Limit(running=5)})

    def work(number: int) -> list[ClaimedJob]:
        return claim_all(store, owner=f"w{number}", slots=7, limits=five)

    answers = at_once(6, work)
    assert [answer for answer in answers if isinstance(answer, Exception)] == []
    claimed = [job.id for answer in answers if isinstance(answer, list) for job in answer]
    assert len(claimed) == len(set(claimed)) == 5


@promise(17)
def test_no_more_of_a_key_run_than_its_limit(store: Store) -> None:
    add_jobs(store, 4, limit_key="acme")
    other = add_jobs(store, 2, limit_key="zeta")
    free = add_jobs(store, 3)

    claimed = claim_ids(store, limits=TWO_A_KEY)
    assert len(claimed) == 7
    assert set(other + free) <= set(claimed)
    assert claim_ids(store, limits=TWO_A_KEY) == []


@promise(17)
def test_the_end_of_one_makes_room_for_the_next_of_its_key(store: Store) -> None:
    ids = add_jobs(store, 4, limit_key="acme")
    running = claim_all(store, limits=TWO_A_KEY)
    settle_done(store, running[0])

    assert claim_ids(store, limits=TWO_A_KEY) == ids[2:3]


@promise(17)
def test_jobs_of_a_key_count_for_their_kind_too(store: Store) -> None:
    both = Limits(kinds={"work": Limit(running=3)}, keys={"work": Limit(running=2)})
    for key in ("a", "b", "c"):
        add_jobs(store, 3, limit_key=key)
    running: list[ClaimedJob] = []
    for _ in range(4):
        running += claim_all(store, limits=both)
    assert len(running) == 3

    done = 0
    for _ in range(9):
        settle_done(store, *running)
        done += len(running)
        running = claim_all(store, limits=both)
    assert done == 9


@promise(17)
def test_starts_are_bounded_by_the_burst_and_the_rate(store: Store, tempo: Tempo) -> None:
    add_jobs(store, 30)
    rate = Limits(kinds={"work": Limit(rate=1, per=tempo.seconds(100), burst=4)})

    assert len(claim_ids(store, limits=rate)) == 4
    assert claim_ids(store, owner="b", limits=rate) == []
    tempo.passes(101)
    assert len(claim_ids(store, owner="b", limits=rate)) in (1, 2)


@promise(17)
def test_a_claim_says_when_the_next_token_is_there(store: Store, tempo: Tempo) -> None:
    add_jobs(store, 3)
    seconds = tempo.seconds(500)
    rate = Limits(kinds={"work": Limit(rate=1, per=seconds, burst=1)})
    request = ClaimRequest(
        owner="a", kinds=["work"], slots={"default": 9}, lease_seconds=HOUR, limits=rate
    )
    store.jobs.claim(request)
    look_in = store.jobs.claim(request).look_in

    assert look_in is not None
    assert 0 < look_in <= seconds


@promise(17)
def test_each_key_has_its_own_tokens(store: Store, tempo: Tempo) -> None:
    for key in ("a", "b"):
        add_jobs(store, 5, limit_key=key)
    rate = Limits(keys={"work": Limit(rate=1, per=tempo.hour, burst=2)})

    assert len(claim_ids(store, limits=rate)) == 4


@promise(17)
def test_no_more_jobs_of_a_tenant_run_than_its_cap(store: Store) -> None:
    capped = add_jobs(store, 5, tenant="acme")
    others = add_jobs(store, 5, tenant="zeta")
    caps = Limits(tenants={"acme": 2})

    assert set(claim_ids(store, limits=caps)) == set(capped[:2] + others)
    assert claim_ids(store, owner="b", limits=caps) == []


@promise(17)
def test_a_cap_holds_over_kinds_and_queues(store: Store) -> None:
    for queue in ("default", "mail"):
        add_jobs(store, 3, tenant="acme", queue=queue)
        add_jobs(store, 3, tenant="acme", queue=queue, kind="other", priority=1)
    caps = Limits(tenants={"acme": 4})

    slots = {"default": 10, "mail": 10}
    assert len(claim_ids(store, kinds=BOTH, slots=slots, limits=caps)) == 4


@promise(17)
def test_jobs_go_on_when_their_limit_is_gone(store: Store) -> None:
    ids = add_jobs(store, 6)
    running = claim_ids(store, limits=TWO)
    found: list[str] = []
    for _ in range(3):
        found += claim_ids(store)

    assert sorted(running + found) == sorted(ids)


@promise(17)
def test_a_parked_job_can_be_called_off(store: Store) -> None:
    ids = add_jobs(store, 4)
    running = claim_all(store, limits=TWO)
    cancel(store, ids[2])
    settle_done(store, *running)

    assert claim_ids(store, limits=TWO) == ids[3:]
    assert state_of(store, ids[2]) == "canceled"


@promise(17)
@needs(Capability.EXPIRY)
@promise(14)
def test_a_parked_job_expires(store: Store, tempo: Tempo) -> None:
    add_jobs(store, 2)
    late = add_job(store, expires_seconds=tempo.seconds(20))
    running = claim_all(store, limits=TWO)
    tempo.passes(21)
    settle_done(store, *running)

    assert claim_ids(store, limits=TWO) == []
    assert (state_of(store, late), job_of(store, late).reason) == ("canceled", "expired")


@promise(17)
@needs(Capability.ORDER)
def test_a_limit_and_an_ordering_key_hold_together(store: Store) -> None:
    one = Limits(kinds={"work": Limit(running=1)})
    options: dict[str, Any] = {"ordering_key": "invoice:1"}
    first, second = add_jobs(store, 2, **options)
    free = add_job(store)

    seen: list[str] = []
    for _ in range(3):
        [job] = claim_all(store, limits=one)
        seen.append(job.id)
        settle_done(store, job)
    assert sorted(seen) == sorted([first, second, free])
    assert seen.index(first) < seen.index(second)
