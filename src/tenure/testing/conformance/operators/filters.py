"""Filters: every condition by itself, and all of them together."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tenure.core.capability import Capability
from tenure.core.errors import OptionError
from tenure.core.filter import JobFilter
from tenure.core.job import DEAD_LETTERS, FINAL_STATES, OPEN_STATES, State
from tenure.stores.contract import Store
from tenure.testing.conformance.actions import (
    add,
    add_job,
    add_jobs,
    cancel,
    count_of,
    finished_job,
    ids_of,
    job_of,
    keyed,
    start_job,
)
from tenure.testing.conformance.promise import needs
from tenure.testing.tempo import Tempo

CONDITIONS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"kind": "mail"}, {"kinds": ("mail", "fax")}),
    ({"queue": "pdf"}, {"queues": ("pdf",)}),
    ({"tenant": "acme"}, {"tenant": "acme"}),
    ({"owner": "ada"}, {"owner": "ada"}),
    ({"correlation_id": "req-1"}, {"correlation_id": "req-1"}),
    ({"batch_id": "77"}, {"batch_id": "77"}),
]


def test_no_condition_finds_every_job(store: Store) -> None:
    ids = add_jobs(store, 3)

    assert ids_of(store) == ids


def test_ids_find_those_jobs(store: Store) -> None:
    first, _, third = add_jobs(store, 3)

    assert ids_of(store, ids=(third, first)) == [first, third]
    assert ids_of(store, ids=(first, "abc", "99999999")) == [first]
    assert ids_of(store, ids=()) == []


@needs(Capability.BATCHES)
def test_a_condition_finds_what_has_that_value(store: Store) -> None:
    add_job(store)
    for one, condition in CONDITIONS:
        job_id = add_job(store, **one)

        assert ids_of(store, **condition) == [job_id]
        assert count_of(store, **condition) == 1


def test_the_empty_tenant_is_a_tenant(store: Store) -> None:
    add_job(store, tenant="acme")
    nobody = add_job(store)

    assert ids_of(store, tenant="") == [nobody]


def test_an_empty_list_of_kinds_finds_nothing(store: Store) -> None:
    add_job(store)

    assert ids_of(store, kinds=()) == ids_of(store, queues=()) == ids_of(store, states=()) == []


@needs(Capability.UNIQUE_KEYS)
def test_a_key_finds_its_jobs_of_all_times(store: Store) -> None:
    add(store, keyed("other"))
    past = finished_job(store, key=keyed("k").key, priority=0)
    [live] = add(store, keyed("k"))

    assert ids_of(store, key="k") == [past, live.id]


def test_states_find_what_is_in_them(store: Store) -> None:
    done, failed, dead = (
        finished_job(store, state) for state in (State.SUCCEEDED, State.FAILED, State.DEAD)
    )
    running = start_job(store).id
    canceled = add_job(store)
    cancel(store, canceled)
    waiting = add_job(store)

    assert ids_of(store, states=(State.QUEUED,)) == [waiting]
    assert ids_of(store, states=OPEN_STATES) == [running, waiting]
    assert ids_of(store, states=DEAD_LETTERS) == [failed, dead]
    assert ids_of(store, states=(State.DEAD,)) == [dead]
    assert ids_of(store, states=FINAL_STATES) == [done, failed, dead, canceled]


def test_created_after_and_before_part_the_jobs_in_two(store: Store, tempo: Tempo) -> None:
    old = add_job(store)
    tempo.passes(5)
    new = add_job(store)
    moment = job_of(store, new).created_at

    assert ids_of(store, created_before=moment) == [old]
    assert ids_of(store, created_after=moment) == [new]


def test_finished_before_finds_only_finished_jobs(store: Store, tempo: Tempo) -> None:
    old = finished_job(store)
    tempo.passes(5)
    finished_job(store)
    add_job(store)

    assert ids_of(store, finished_before=job_of(store, old).finished_at) == []
    last = job_of(store, old).finished_at
    assert last is not None
    assert ids_of(store, finished_before=last + timedelta(microseconds=1)) == [old]


def test_all_conditions_must_hold(store: Store) -> None:
    add_job(store, tenant="a", queue="pdf")
    add_job(store, tenant="b")
    both = add_job(store, tenant="a")

    assert ids_of(store, tenant="a", queues=("default",), states=(State.QUEUED,)) == [both]


def test_a_value_is_never_read_as_sql(store: Store) -> None:
    add_job(store)
    odd = "' OR '1'='1"

    assert ids_of(store, tenant=odd) == ids_of(store, kinds=(odd, "%", "_")) == []
    assert JobFilter().empty


@pytest.mark.parametrize("name", ["created_after", "created_before", "finished_before"])
def test_a_time_without_a_zone_is_refused(store: Store, name: str) -> None:
    naive: Any = {name: store.now().replace(tzinfo=None)}

    with pytest.raises(OptionError, match=f"{name} must have a time zone"):
        store.jobs.count(JobFilter(**naive))
