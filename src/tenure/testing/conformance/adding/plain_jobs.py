"""Adding: all or none, in order, also inside a transaction."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tenure.core.capability import Capability
from tenure.core.errors import KeyConflict
from tenure.core.job import NewJob, State
from tenure.stores.contract import Store
from tenure.testing.conformance.actions import (
    add,
    add_job,
    add_jobs,
    claim_ids,
    claim_one,
    count_of,
    finished_job,
    ids_of,
    job_of,
    keyed,
    state_of,
)
from tenure.testing.conformance.promise import needs, promise
from tenure.testing.tempo import Tempo

ODD_PAYLOAD = '{"text": "100 % :now {now} \\"é\\" 漢 🙂 \\\\ \\u0000 \' $1 ?"}'


@promise(1)
def test_a_job_is_stored_when_add_has_returned(store: Store) -> None:
    job_id = add_job(store)

    assert state_of(store, job_id) is State.QUEUED
    assert claim_ids(store) == [job_id]


@needs(Capability.BATCHES)
def test_a_new_job_keeps_all_it_was_given(store: Store) -> None:
    wanted = NewJob(
        kind="invoice.pdf.render",
        payload='{"id": 42}',
        queue="pdf",
        priority=1,
        tenant="acme",
        owner="ada",
        max_attempts=3,
        correlation_id="req-7",
        trace="00-abc-def-01",
        enqueued_by="api",
        batch_id=add_job(store),
        seq=9,
    )

    job = job_of(store, add(store, wanted)[0].id)

    assert job.payload_json == wanted.payload
    for field in ("kind", "queue", "priority", "tenant", "owner", "max_attempts"):
        assert getattr(job, field) == getattr(wanted, field)
    for field in ("correlation_id", "trace", "enqueued_by", "batch_id", "seq"):
        assert getattr(job, field) == getattr(wanted, field)


@needs(Capability.HISTORY)
def test_a_new_job_has_not_run(store: Store) -> None:
    job = job_of(store, add_job(store))

    assert (job.attempt, job.fence, job.snoozes, job.refunds) == (0, 0, 0, 0)
    assert (job.started_at, job.finished_at, job.lease_until, job.result_json) == (None,) * 4
    assert not job.cancel_requested
    assert store.jobs.history(job.id) == []


def test_a_new_job_is_created_and_due_by_the_stores_clock(store: Store) -> None:
    before = store.now()
    job = job_of(store, add_job(store))
    after = store.now()

    assert before <= job.created_at <= after
    assert before <= job.run_at <= after


def test_a_delay_counts_from_the_stores_now(store: Store) -> None:
    before = store.now()
    job = job_of(store, add_job(store, delay_seconds=90.5))

    assert timedelta() <= job.run_at - before - timedelta(seconds=90.5) < timedelta(seconds=10)


@needs(Capability.SUB_SECOND)
def test_run_at_is_kept_to_the_microsecond(store: Store) -> None:
    moment = store.now().replace(microsecond=123_457) + timedelta(days=400)

    assert job_of(store, add_job(store, run_at=moment)).run_at == moment


def test_ids_grow_in_the_order_of_the_call(store: Store) -> None:
    names = [f"n{number}" for number in range(20)]

    added = add(store, *(NewJob(kind="work", correlation_id=name) for name in names))

    ids = [answer.id for answer in added]
    assert ids_of(store) == ids
    assert [job_of(store, job_id).correlation_id for job_id in ids] == names
    assert all(answer.created for answer in added)


@needs(Capability.UNIQUE_KEYS)
def test_keyed_and_plain_jobs_of_one_call_are_answered_in_order(store: Store) -> None:
    wanted = [NewJob(kind="work", payload="1"), keyed("a", "2"), NewJob(kind="work", payload="3")]
    wanted += [keyed("b", "4", window=60), keyed("c", "5"), NewJob(kind="work", payload="6")]

    ids = [answer.id for answer in add(store, *wanted)]

    assert [job_of(store, job_id).payload_json for job_id in ids] == list("123456")


def test_a_call_without_jobs_adds_nothing(store: Store) -> None:
    assert add(store) == []
    assert count_of(store) == 0


def test_a_thousand_jobs_go_in_one_call(store: Store) -> None:
    assert len(set(add_jobs(store, 1000))) == 1000
    assert count_of(store) == 1000


def test_a_payload_comes_back_as_it_was(store: Store) -> None:
    job_id = add_job(store, payload=ODD_PAYLOAD)

    assert job_of(store, job_id).payload_json == ODD_PAYLOAD
    assert claim_one(store).payload == ODD_PAYLOAD


def test_a_payload_may_be_a_megabyte(store: Store) -> None:
    payload = '"' + "é" * 500_000 + '"'

    assert job_of(store, add_job(store, payload=payload)).payload_json == payload


def test_names_may_hold_any_text(store: Store) -> None:
    odd = "à la carte % :x {y} '\" 漢🙂"

    job = job_of(store, add_job(store, tenant=odd, owner=odd, correlation_id=odd))

    assert (job.tenant, job.owner, job.correlation_id) == (odd, odd, odd)
    assert ids_of(store, tenant=odd, owner=odd, correlation_id=odd) == [job.id]


@promise(1)
@needs(Capability.UNIQUE_KEYS)
def test_one_refused_job_of_a_call_refuses_them_all(store: Store) -> None:
    add(store, keyed("taken", "1"))

    with pytest.raises(KeyConflict):
        add(store, NewJob(kind="work"), keyed("free"), keyed("w", window=60), keyed("taken", "2"))

    assert count_of(store) == 1
    assert add(store, keyed("free", "3"), keyed("w", "3", window=60))[1].created


@promise(1, 6)
@needs(Capability.TRANSACTIONS)
def test_a_job_added_in_a_transaction_is_there_after_its_commit(store: Store) -> None:
    with store.transaction() as tx:
        [added] = add(store, NewJob(kind="work"), tx=tx)

    assert claim_ids(store) == [added.id]


@promise(6)
@needs(Capability.TRANSACTIONS, Capability.UNIQUE_KEYS)
def test_a_job_added_in_a_transaction_goes_with_its_rollback(store: Store) -> None:
    with pytest.raises(ZeroDivisionError), store.transaction() as tx:
        add(store, NewJob(kind="work"), keyed("k"), keyed("w", window=60), tx=tx)
        raise ZeroDivisionError

    assert count_of(store) == 0
    assert all(answer.created for answer in add(store, keyed("k", "2"), keyed("w", "2", window=60)))


@promise(6)
@needs(Capability.TRANSACTIONS)
def test_nobody_sees_a_job_before_its_transaction_has_committed(store: Store) -> None:
    with store.transaction() as tx:
        [added] = add(store, NewJob(kind="work"), tx=tx)
        assert store.jobs.get(added.id) is None

    assert store.jobs.get(added.id) is not None


def test_a_job_that_is_not_there_is_none(store: Store) -> None:
    finished_job(store)

    for unknown in ("999999999", "0", "-1", "", "abc", "1 OR 1=1", "9" * 40, "\u0661"):
        assert store.jobs.get(unknown) is None


@promise(7)
def test_a_delay_is_not_cut_short(store: Store, tempo: Tempo) -> None:
    add_job(store, delay_seconds=tempo.hour)

    assert claim_ids(store) == []
