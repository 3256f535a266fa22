"""Unique keys with a window: they outlive the job, and its purging."""

from __future__ import annotations

import pytest

from tenure.core.capability import Capability
from tenure.core.errors import KeyConflict
from tenure.core.filter import JobFilter
from tenure.core.job import KeyMode
from tenure.stores.contract import Added, Store
from tenure.testing.conformance.actions import (
    add,
    at_once,
    claim_one,
    count_of,
    job_of,
    keyed,
    settle_done,
)
from tenure.testing.conformance.promise import promise
from tenure.testing.tempo import Tempo

NEEDS = (Capability.UNIQUE_KEYS,)

HOUR = 3600.0


@promise(5)
def test_a_window_answers_with_the_first_job(store: Store) -> None:
    [first] = add(store, keyed("k", window=HOUR))

    assert add(store, keyed("k", window=HOUR)) == [Added(first.id, created=False)]


@promise(5)
def test_a_window_refuses_another_payload(store: Store) -> None:
    add(store, keyed("k", "1", window=HOUR))

    with pytest.raises(KeyConflict):
        add(store, keyed("k", "2", window=HOUR))

    assert count_of(store) == 1


@promise(5)
def test_a_window_outlives_the_run(store: Store) -> None:
    [first] = add(store, keyed("k", window=HOUR))
    settle_done(store, claim_one(store))

    assert add(store, keyed("k", window=HOUR)) == [Added(first.id, created=False)]


@promise(5)
def test_a_window_outlives_purging(store: Store, tempo: Tempo) -> None:
    [first] = add(store, keyed("k", "1", window=HOUR))
    settle_done(store, claim_one(store))
    tempo.passes(1)

    assert store.jobs.purge(JobFilter(), before=store.now()).removed == 1
    assert add(store, keyed("k", "1", window=HOUR)) == [Added(first.id, created=False)]
    with pytest.raises(KeyConflict):
        add(store, keyed("k", "2", window=HOUR))


@promise(5)
def test_a_key_is_free_when_its_window_is_over(store: Store, tempo: Tempo) -> None:
    [first] = add(store, keyed("k", "1", window=tempo.seconds(10)))
    tempo.passes(11)

    [second] = add(store, keyed("k", "2", window=HOUR))

    assert second.created
    assert second.id != first.id
    assert add(store, keyed("k", "2", window=HOUR)) == [Added(second.id, created=False)]


@promise(5)
def test_purging_forgets_windows_that_are_over(store: Store, tempo: Tempo) -> None:
    add(store, keyed("k", "1", window=tempo.seconds(10)))
    tempo.passes(11)
    store.jobs.purge(JobFilter(), before=store.now())

    assert add(store, keyed("k", "2", window=HOUR))[0].created


@promise(5)
def test_a_window_twice_in_one_call_is_one_job(store: Store) -> None:
    first, second = add(store, keyed("k", window=HOUR), keyed("k", window=HOUR))

    assert second == Added(first.id, created=False)
    assert count_of(store) == 1


@promise(5)
def test_replace_within_a_window_changes_the_waiting_job(store: Store) -> None:
    [first] = add(store, keyed("k", "1", window=HOUR))
    add(store, keyed("k", "2", window=HOUR, mode=KeyMode.REPLACE))

    assert job_of(store, first.id).payload_json == "2"
    assert add(store, keyed("k", "2", window=HOUR)) == [Added(first.id, created=False)]
    with pytest.raises(KeyConflict):
        add(store, keyed("k", "1", window=HOUR))


@promise(5)
def test_sixteen_callers_of_a_window_at_once_create_one_job(store: Store) -> None:
    answers = at_once(16, lambda number: add(store, keyed("k", window=HOUR))[0])

    assert len({answer.id for answer in answers if isinstance(answer, Added)}) == 1
    assert [answer for answer in answers if isinstance(answer, Exception)] == []
    assert count_of(store) == 1
