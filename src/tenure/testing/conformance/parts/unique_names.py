"""Names that count once within a window, in somebody's transaction."""

from __future__ import annotations

import pytest

from tenure.core.capability import Capability
from tenure.core.filter import JobFilter
from tenure.stores.contract import Store
from tenure.testing.conformance.actions import at_once
from tenure.testing.conformance.promise import promise
from tenure.testing.tempo import Tempo

NEEDS = (
    Capability.TRANSACTIONS,
    Capability.NAMES,
)

HOUR = 3600.0


def take(store: Store, name: str = "m-1", *, scope: str = "erp", tenant: str = "") -> bool:
    """In a transaction that commits."""
    with store.transaction() as tx:
        return store.keys.take(tenant, scope, name, HOUR, tx)


@promise(5)
def test_a_name_is_taken_once(store: Store) -> None:
    assert [take(store), take(store), take(store)] == [True, False, False]


@promise(5)
def test_a_name_is_taken_once_in_one_transaction_too(store: Store) -> None:
    with store.transaction() as tx:
        answers = [store.keys.take("", "erp", "m-1", HOUR, tx) for _ in range(3)]

    assert answers == [True, False, False]


@promise(5)
def test_names_of_other_scopes_and_tenants_and_cases_are_others(store: Store) -> None:
    assert take(store)
    assert take(store, "M-1")
    assert take(store, scope="crm")
    assert take(store, tenant="acme")


@promise(5)
def test_a_name_taken_in_a_transaction_that_rolls_back_is_free(store: Store) -> None:
    with pytest.raises(ZeroDivisionError), store.transaction() as tx:
        assert store.keys.take("", "erp", "m-1", HOUR, tx)
        raise ZeroDivisionError

    assert take(store)


@promise(5)
def test_of_sixteen_who_take_a_name_at_once_one_gets_it(store: Store) -> None:
    answers = at_once(16, lambda number: take(store))

    assert sorted(map(str, answers)) == ["False"] * 15 + ["True"]


@promise(5)
def test_a_name_is_free_again_when_its_window_is_over(store: Store, tempo: Tempo) -> None:
    with store.transaction() as tx:
        store.keys.take("", "erp", "m-1", tempo.seconds(10), tx)
    tempo.passes(11)

    assert [take(store), take(store)] == [True, False]


@promise(5)
def test_purging_forgets_names_whose_window_is_over(store: Store, tempo: Tempo) -> None:
    with store.transaction() as tx:
        store.keys.take("", "erp", "m-1", tempo.seconds(10), tx)
        store.keys.take("", "erp", "m-2", HOUR, tx)
    tempo.passes(11)

    assert store.jobs.purge(JobFilter(), before=store.now()).keys == 1
    assert not take(store, "m-2")
