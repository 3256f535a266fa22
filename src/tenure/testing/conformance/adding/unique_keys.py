"""Unique keys while the job is unfinished: one job, whatever the concurrency."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tenure.core.capability import Capability
from tenure.core.errors import KeyConflict
from tenure.core.job import KeyMode, NewJob, State
from tenure.stores.contract import Added, Store
from tenure.stores.contract.parts import Record
from tenure.testing.conformance.actions import (
    add,
    add_job,
    at_once,
    cancel,
    claim_one,
    count_of,
    finished_job,
    ids_of,
    job_of,
    keyed,
)
from tenure.testing.conformance.promise import needs, promise
from tenure.testing.tempo import Tempo


@promise(5)
@needs(Capability.UNIQUE_KEYS)
def test_a_second_job_under_a_key_is_the_first_one(store: Store) -> None:
    [first] = add(store, keyed("k", "1"))
    [second] = add(store, keyed("k", "1"))

    assert first.created
    assert second == Added(first.id, created=False)
    assert count_of(store) == 1


@promise(5)
@needs(Capability.UNIQUE_KEYS)
def test_another_payload_under_a_key_is_a_conflict(store: Store) -> None:
    [first] = add(store, keyed("k", "1"))

    with pytest.raises(KeyConflict) as conflict:
        add(store, keyed("k", "2"))

    assert (conflict.value.key, conflict.value.job_id) == ("k", first.id)
    assert job_of(store, first.id).payload_json == "1"


@promise(5)
@needs(Capability.RECORDS, Capability.TRANSACTIONS, Capability.UNIQUE_KEYS)
def test_a_conflict_leaves_the_callers_transaction_as_it_was(store: Store) -> None:
    add(store, keyed("taken", "1"))

    with store.transaction() as tx:
        [before] = add(store, NewJob(kind="work"), tx=tx)
        with pytest.raises(KeyConflict):
            add(store, NewJob(kind="lost"), keyed("free"), keyed("taken", "2"), tx=tx)
        store.records.put(Record(collection="c", name="mine"), tx=tx)
        [after] = add(store, keyed("free", "3"), tx=tx)

    assert ids_of(store)[1:] == [before.id, after.id]
    assert store.records.find("c", "mine") is not None


@promise(5)
@needs(Capability.TRANSACTIONS, Capability.UNIQUE_KEYS)
@pytest.mark.parametrize("order", [1, -1])
def test_a_refused_call_takes_back_what_it_replaced(store: Store, order: int) -> None:
    [waiting] = add(store, keyed("waiting", "1", priority=3))
    add(store, keyed("taken", "1"))
    wanted = [keyed("waiting", "2", mode=KeyMode.REPLACE), keyed("taken", "2")]

    with store.transaction() as tx, pytest.raises(KeyConflict):
        add(store, *wanted[::order], tx=tx)

    job = job_of(store, waiting.id)
    assert (job.payload_json, job.priority) == ("1", 3)
    assert add(store, keyed("waiting", "1")) == [Added(waiting.id, created=False)]


@promise(5)
@needs(Capability.UNIQUE_KEYS)
def test_a_key_twice_in_one_call_is_one_job(store: Store) -> None:
    first, other, second = add(store, keyed("k"), keyed("other"), keyed("k"))

    assert second == Added(first.id, created=False)
    assert ids_of(store) == [first.id, other.id]


@promise(5)
@needs(Capability.UNIQUE_KEYS)
def test_a_key_twice_in_one_call_with_two_payloads_is_a_conflict(store: Store) -> None:
    with pytest.raises(KeyConflict):
        add(store, NewJob(kind="work"), keyed("k", "1"), keyed("k", "2"))

    assert count_of(store) == 0


@promise(5)
@needs(Capability.UNIQUE_KEYS)
def test_a_key_belongs_to_its_tenant_and_kind(store: Store) -> None:
    wanted = [keyed("k", tenant="a"), keyed("k", tenant="b"), keyed("k", kind="other")]

    assert all(answer.created for answer in add(store, *wanted))


@promise(5)
@needs(Capability.UNIQUE_KEYS)
def test_keys_differ_by_case_accent_and_blanks(store: Store) -> None:
    names = ["key", "KEY", "kéy", "key ", " key", "key\t"]

    assert all(answer.created for answer in add(store, *(keyed(name, name) for name in names)))
    assert all(answer.created for answer in add(store, keyed(tenant="a"), keyed(tenant="A")))


@promise(5)
@needs(Capability.UNIQUE_KEYS)
def test_a_key_may_be_two_hundred_characters_long(store: Store) -> None:
    names = ["x" * 199 + end for end in "ab"]

    assert all(answer.created for answer in add(store, *(keyed(name) for name in names)))


@promise(5)
@needs(Capability.UNIQUE_KEYS)
@pytest.mark.parametrize("state", [State.SUCCEEDED, State.FAILED, State.DEAD, State.SKIPPED])
def test_a_key_is_free_again_when_its_job_has_finished(store: Store, state: State) -> None:
    finished_job(store, state, key=keyed("k").key)

    assert add(store, keyed("k", "2"))[0].created


@promise(5)
@needs(Capability.UNIQUE_KEYS)
def test_a_key_is_free_again_when_its_job_was_cancelled(store: Store) -> None:
    [first] = add(store, keyed("k"))
    cancel(store, first.id)

    assert add(store, keyed("k", "2"))[0].created


@promise(5)
@needs(Capability.UNIQUE_KEYS)
def test_a_running_job_keeps_its_key(store: Store) -> None:
    [first] = add(store, keyed("k", "1"))
    claim_one(store)

    assert add(store, keyed("k", "1")) == [Added(first.id, created=False)]
    with pytest.raises(KeyConflict):
        add(store, keyed("k", "2"))


@promise(5)
@needs(Capability.UNIQUE_KEYS)
def test_the_job_shows_its_key(store: Store) -> None:
    [added] = add(store, keyed("k"))

    assert job_of(store, added.id).key == "k"


@promise(5)
@needs(Capability.UNIQUE_KEYS)
def test_replace_changes_the_waiting_job(store: Store) -> None:
    [first] = add(store, keyed("k", "1", priority=2))
    answer = add(store, keyed("k", "2", priority=0, mode=KeyMode.REPLACE))

    job = job_of(store, first.id)
    assert answer == [Added(first.id, created=False)]
    assert (job.payload_json, job.priority) == ("2", 0)
    assert count_of(store) == 1


@promise(5)
@needs(Capability.UNIQUE_KEYS)
def test_replace_takes_the_new_time(store: Store) -> None:
    [first] = add(store, keyed("k", "1", delay_seconds=60))
    later = store.now() + timedelta(days=1)

    add(store, keyed("k", "2", mode=KeyMode.REPLACE, run_at=later))

    assert job_of(store, first.id).run_at == later


@promise(5)
@needs(Capability.UNIQUE_KEYS)
def test_what_was_replaced_is_what_the_next_one_is_compared_with(store: Store) -> None:
    add(store, keyed("k", "1"))
    add(store, keyed("k", "2", mode=KeyMode.REPLACE))

    assert not add(store, keyed("k", "2"))[0].created
    with pytest.raises(KeyConflict):
        add(store, keyed("k", "1"))


@promise(5)
@needs(Capability.UNIQUE_KEYS)
def test_a_free_key_in_mode_replace_is_a_new_job(store: Store) -> None:
    assert add(store, keyed("k", mode=KeyMode.REPLACE))[0].created
    assert add(store, keyed("d", mode=KeyMode.DEBOUNCE))[0].created


@promise(5)
@needs(Capability.UNIQUE_KEYS)
@pytest.mark.parametrize("mode", [KeyMode.REPLACE, KeyMode.DEBOUNCE])
def test_a_running_job_is_not_replaced(store: Store, mode: KeyMode) -> None:
    [first] = add(store, keyed("k", "1"))
    claim_one(store)

    assert add(store, keyed("k", "1", mode=mode)) == [Added(first.id, created=False)]
    with pytest.raises(KeyConflict):
        add(store, keyed("k", "2", mode=mode))
    assert job_of(store, first.id).payload_json == "1"


@promise(5)
@needs(Capability.UNIQUE_KEYS)
def test_debounce_puts_the_start_off_again(store: Store, tempo: Tempo) -> None:
    [first] = add(store, keyed("k", "1", delay_seconds=tempo.hour))
    planned = job_of(store, first.id).run_at
    tempo.passes(20)

    add(store, keyed("k", "2", mode=KeyMode.DEBOUNCE, delay_seconds=tempo.hour))

    job = job_of(store, first.id)
    assert job.payload_json == "2"
    assert job.run_at - planned >= timedelta(seconds=tempo.seconds(20))


@promise(5)
@needs(Capability.UNIQUE_KEYS)
def test_sixteen_callers_at_once_create_one_job(store: Store) -> None:
    answers = at_once(16, lambda number: add(store, keyed("k", "1"), NewJob(kind="other"))[0])

    created = [answer for answer in answers if isinstance(answer, Added) and answer.created]
    assert len(created) == 1
    assert [answer for answer in answers if not isinstance(answer, Added)] == []
    assert ids_of(store, key="k") == [created[0].id]
    assert count_of(store, kinds=("other",)) == 16


@promise(5)
@needs(Capability.UNIQUE_KEYS)
def test_of_many_payloads_at_once_one_wins_and_the_others_conflict(store: Store) -> None:
    answers = at_once(8, lambda number: add(store, keyed("k", str(number)))[0])

    winners = [answer for answer in answers if isinstance(answer, Added)]
    assert len(winners) == 1
    assert sum(isinstance(answer, KeyConflict) for answer in answers) == 7
    assert count_of(store) == 1


@promise(5)
@needs(Capability.UNIQUE_KEYS)
def test_many_keys_in_different_orders_at_once_do_not_stop_each_other(store: Store) -> None:
    names = [f"k{number}" for number in range(12)]

    def add_rotated(number: int) -> list[Added]:
        return add(store, *(keyed(name) for name in names[number:] + names[:number]))

    answers = at_once(6, add_rotated)

    assert [answer for answer in answers if isinstance(answer, Exception)] == []
    assert count_of(store) == len(names)


def test_a_job_without_a_key_is_never_a_duplicate(store: Store) -> None:
    assert add_job(store, payload="1") != add_job(store, payload="1")
