"""Ordering keys that have stopped, whatever the cause: found, released, and nobody else touched."""

from __future__ import annotations

import pytest

from tenure.core.job import State
from tenure.core.settlement import Settlement
from tenure.stores.sql.store import SqlStore
from tenure.testing.conformance.actions import add_job, claim_ids, claim_one, settle_done
from tenure.testing.conformance.promise import promise

pytestmark = pytest.mark.parametrize("clock", ["real_clock"], indirect=True)


def stop(store: SqlStore, job_id: str) -> None:
    """As a fault would: the head of a key waits like all the others."""
    with store.transaction() as tx:
        tx.execute("UPDATE tenure_jobs SET hold = 1 WHERE id = :id", id=int(job_id))


def add_keyed(store: SqlStore, key: str, count: int = 1, tenant: str = "acme") -> list[str]:
    return [add_job(store, ordering_key=key, tenant=tenant) for _ in range(count)]


@promise(8)
def test_a_key_with_nobody_ahead_is_found_and_released(store: SqlStore) -> None:
    first, second = add_keyed(store, "k", 2)
    stop(store, first)
    assert claim_ids(store) == []

    assert store.orders.stopped(100).orders == (("acme", "k"),)
    assert store.orders.release(("acme", "k"))

    assert store.orders.stopped(100).orders == ()
    job = claim_one(store)
    assert job.id == first
    settle_done(store, job)
    assert claim_ids(store) == [second]


@promise(8)
def test_a_key_that_runs_waits_or_is_blocked_has_not_stopped(store: SqlStore) -> None:
    add_keyed(store, "blocked", 2)
    job = claim_one(store)
    store.jobs.settle([Settlement(lease=job.lease, state=State.FAILED)])
    add_keyed(store, "runs", 2)
    claim_one(store)
    add_keyed(store, "waits", 2)
    add_job(store, after=(add_job(store),), ordering_key="awaits", tenant="acme")
    add_keyed(store, "awaits")

    assert store.orders.stopped(100).orders == ()


@promise(8)
def test_a_release_of_a_key_that_goes_on_frees_nobody(store: SqlStore) -> None:
    first, _ = add_keyed(store, "k", 2)

    assert not store.orders.release(("acme", "k"))
    assert claim_ids(store) == [first]


def test_the_look_goes_on_behind_what_it_has_seen(store: SqlStore) -> None:
    for key in "abc":
        first, *_ = add_keyed(store, key, 2)
        stop(store, first)

    part = store.orders.stopped(2)
    assert part.orders == (("acme", "a"),)
    part = store.orders.stopped(3, part.next)
    assert part.orders == (("acme", "b"), ("acme", "c"))
    part = store.orders.stopped(3, part.next)
    assert part.orders == (("acme", "c"),)
    assert part.next is None


def test_the_same_key_of_another_tenant_is_another_one(store: SqlStore) -> None:
    mine, _ = add_keyed(store, "k", 2, tenant="acme")
    theirs, _ = add_keyed(store, "k", 2, tenant="globex")
    stop(store, mine)

    assert store.orders.stopped(100).orders == (("acme", "k"),)
    assert claim_ids(store) == [theirs]
