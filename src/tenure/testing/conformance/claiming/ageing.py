"""What a queue may switch: whether tenants share, and whether what has waited long is lifted."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from tenure.core.capability import Capability
from tenure.core.job import NewJob, State
from tenure.stores.contract import Store
from tenure.testing.conformance.actions import (
    add,
    add_job,
    claim_all,
    claim_ids,
    claim_one,
    job_of,
    settle,
)
from tenure.testing.conformance.promise import needs, promise
from tenure.testing.tempo import Tempo

STRICT = ("default",)


def old_job(store: Store, minutes: float, **options: Any) -> str:
    """A job that has been due for so long."""
    return add_job(store, run_at=store.now() - timedelta(minutes=minutes), **options)


def lift_all(store: Store, seconds: float = 60.0, queue: str = "default") -> int:
    """Part after part, until one has nothing to do."""
    total = 0
    while lifted := store.queues.lift(queue, seconds):
        total += lifted
    return total


@promise(8)
@needs(Capability.SHARES)
def test_where_tenants_do_not_share_the_oldest_goes_first(store: Store) -> None:
    ages = {"a": (50, 49, 48, 20), "b": (45, 10), "c": (47, 46)}
    made = {
        minutes: old_job(store, minutes, tenant=tenant)
        for tenant, all_minutes in ages.items()
        for minutes in all_minutes
    }
    oldest_first = [made[minutes] for minutes in sorted(made, reverse=True)]

    first = claim_ids(store, slots=5, unfair=STRICT)

    assert first == oldest_first[:5]
    assert first + claim_ids(store, slots=5, unfair=STRICT) == oldest_first


@promise(8)
@needs(Capability.SHARES)
def test_where_tenants_share_they_share_beside_a_queue_where_they_do_not(store: Store) -> None:
    for tenant, age in (("a", 50), ("b", 10)):
        for queue in ("default", "mail"):
            for number in range(4):
                old_job(store, age - number, tenant=tenant, queue=queue)

    jobs = claim_all(store, slots={"default": 4, "mail": 4}, unfair=("mail",))

    assert sorted(job.tenant for job in jobs if job.queue == "default") == ["a", "a", "b", "b"]
    assert [job.tenant for job in jobs if job.queue == "mail"] == ["a"] * 4


@promise(8)
@needs(Capability.SHARES)
def test_priority_goes_before_age_where_tenants_do_not_share(store: Store) -> None:
    low = old_job(store, 50, tenant="a")
    high = old_job(store, 1, tenant="b", priority=1)

    assert claim_ids(store, slots=1, unfair=STRICT) == [high]
    assert claim_ids(store, slots=1, unfair=STRICT) == [low]


@promise(8)
@needs(Capability.SHARES)
def test_the_oldest_of_very_many_tenants_goes_first(store: Store) -> None:
    now = store.now()
    jobs = [
        NewJob(kind="work", tenant=f"t{n:03}", run_at=now - timedelta(seconds=1 + n * 7 % 150))
        for n in range(150)
    ]
    ids = [one.id for one in add(store, *jobs)]
    ages = dict(zip(ids, (job.run_at for job in jobs), strict=True))

    assert (
        claim_ids(store, slots=3, unfair=STRICT) == sorted(ids, key=lambda one: str(ages[one]))[:3]
    )


@promise(8)
@needs(Capability.AGEING)
def test_what_has_waited_too_long_is_lifted_by_one_step(store: Store) -> None:
    old = old_job(store, 10, priority=3)
    young, better = add_job(store, priority=3), add_job(store, priority=1)

    assert lift_all(store) == 1

    assert (job_of(store, old).priority, job_of(store, old).lifted) == (2, True)
    assert (job_of(store, young).priority, job_of(store, young).lifted) == (3, False)
    assert claim_ids(store) == [better, old, young]


@promise(8)
@needs(Capability.AGEING)
def test_a_job_is_lifted_once(store: Store) -> None:
    old = old_job(store, 10, priority=3)

    assert (lift_all(store), lift_all(store)) == (1, 0)
    assert job_of(store, old).priority == 2


@promise(8)
@needs(Capability.AGEING)
def test_a_lifted_job_that_is_retried_is_not_lifted_again(store: Store, tempo: Tempo) -> None:
    old = old_job(store, 10)
    lift_all(store)
    assert settle(store, claim_one(store), State.QUEUED, entry="error")
    tempo.passes(60)

    assert lift_all(store, tempo.seconds(30)) == 0
    assert job_of(store, old).priority == 1


@promise(8)
@needs(Capability.AGEING)
def test_the_best_priority_is_not_lifted(store: Store) -> None:
    best = old_job(store, 10, priority=0)

    assert lift_all(store) == 0
    assert (job_of(store, best).priority, job_of(store, best).lifted) == (0, False)


@promise(8)
@needs(Capability.AGEING, Capability.DEPENDENCIES)
def test_only_what_is_due_in_this_queue_is_lifted(store: Store) -> None:
    add_job(store, delay_seconds=3_600.0)
    old_job(store, 10, queue="mail")
    running = old_job(store, 10)
    claim_one(store)
    first = old_job(store, 10, queue="pdf")
    old_job(store, 10, after=(first,))

    assert lift_all(store) == 0
    assert job_of(store, running).priority == 2


@promise(8)
@needs(Capability.AGEING)
def test_every_old_job_of_very_many_lanes_is_lifted(store: Store) -> None:
    then = store.now() - timedelta(minutes=10)
    jobs = [NewJob(kind="work", tenant=f"t{n % 150:03}", run_at=then) for n in range(300)]
    add(store, *jobs, *(NewJob(kind="work", tenant="many", run_at=then) for _ in range(450)))

    lifted = sum(store.queues.lift("default", 60.0) for _ in range(60))

    assert lifted == 750


@promise(8)
@needs(Capability.AGEING)
def test_a_lifted_job_is_claimed_before_younger_ones_of_its_old_priority(store: Store) -> None:
    add(store, *(NewJob(kind="work", priority=1) for _ in range(3)))
    old = old_job(store, 10)
    claim_ids(store, slots=1)
    lift_all(store)

    assert claim_ids(store, slots=1, thorough=True) == [old]
