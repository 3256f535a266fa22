"""Named locks: one holder by the store's clock, and a fence that grows with each."""

from __future__ import annotations

from tenure.core.capability import Capability
from tenure.stores.contract import Store
from tenure.stores.contract.parts import HeldLock
from tenure.testing.conformance.actions import at_once
from tenure.testing.tempo import Tempo

NEEDS = (Capability.LOCKS,)

HOUR = 3600.0


def take(store: Store, owner: str = "a", seconds: float = HOUR) -> HeldLock:
    """The lock `tick`, which must be free."""
    lock = store.locks.acquire("tick", owner, seconds)
    assert lock is not None
    return lock


def test_a_lock_has_one_holder(store: Store) -> None:
    lock = take(store)

    assert (lock.name, lock.owner) == ("tick", "a")
    assert store.locks.acquire("tick", "b", HOUR) is None
    assert store.locks.acquire("tick", "a", HOUR) is None


def test_locks_of_different_names_do_not_meet(store: Store) -> None:
    take(store)

    assert store.locks.acquire("Tick", "b", HOUR) is not None
    assert store.locks.acquire("tock", "b", HOUR) is not None


def test_a_released_lock_is_free_and_its_fence_grows(store: Store) -> None:
    first = take(store)
    assert store.locks.release(first)

    second = take(store, "b")
    assert second.fence > first.fence


def test_a_lock_that_ran_out_is_free_and_its_fence_grows(store: Store, tempo: Tempo) -> None:
    first = take(store, seconds=tempo.lease)
    tempo.passes(31)

    second = take(store, "b")
    assert second.fence > first.fence


def test_a_renewed_lock_outlasts_its_first_end(store: Store, tempo: Tempo) -> None:
    lock = take(store, seconds=tempo.lease)
    assert store.locks.renew(lock, HOUR)
    tempo.passes(31)

    assert store.locks.acquire("tick", "b", HOUR) is None


def test_a_lock_that_ran_out_is_not_renewed(store: Store, tempo: Tempo) -> None:
    lock = take(store, seconds=tempo.lease)
    tempo.passes(31)

    assert not store.locks.renew(lock, HOUR)


def test_a_stale_holder_neither_renews_nor_releases(store: Store, tempo: Tempo) -> None:
    stale = take(store, seconds=tempo.lease)
    tempo.passes(31)
    held = take(store, "b")

    assert not store.locks.renew(stale, HOUR)
    assert not store.locks.release(stale)
    assert store.locks.renew(held, HOUR)


def test_a_lock_is_released_once(store: Store) -> None:
    lock = take(store)

    assert store.locks.release(lock)
    assert not store.locks.release(lock)
    assert not store.locks.renew(lock, HOUR)


def test_the_list_shows_the_locks_held_now(store: Store, tempo: Tempo) -> None:
    lock = take(store)
    store.locks.acquire("short", "b", tempo.lease)
    tempo.passes(31)

    assert store.locks.list() == [lock]


def test_of_many_callers_at_once_one_gets_the_lock(store: Store) -> None:
    answers = at_once(8, lambda number: store.locks.acquire("tick", f"w{number}", HOUR))

    assert [answer for answer in answers if isinstance(answer, Exception)] == []
    assert sum(answer is not None for answer in answers) == 1
