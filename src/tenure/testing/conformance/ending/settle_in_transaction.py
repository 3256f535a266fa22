"""Settling in the caller's transaction: rows, follow-up jobs and the final state, or nothing."""

from __future__ import annotations

import pytest

from tenure.core.capability import Capability
from tenure.core.job import NewJob, State
from tenure.core.lease import ClaimedJob
from tenure.core.settlement import Settlement
from tenure.stores.contract import Store
from tenure.stores.contract.parts import Record
from tenure.testing.conformance.actions import (
    OOPS,
    add,
    claim_one,
    count_of,
    entries_of,
    settle_done,
    start_job,
    state_of,
)
from tenure.testing.conformance.promise import needs, promise
from tenure.testing.tempo import Tempo

NEEDS = (Capability.TRANSACTIONS,)


class Undone(Exception):
    """Raised by a test inside a transaction."""


def write_together(store: Store, tx: object, job: ClaimedJob) -> bool:
    """A row, a follow-up job and the job's end, in one transaction; whether the fence held."""
    store.records.put(Record(collection="invoices", name="42"), tx=tx)
    add(store, NewJob(kind="mail"), tx=tx)
    return job.id in store.jobs.settle([Settlement(lease=job.lease, state=State.SUCCEEDED)], tx=tx)


@promise(6)
@needs(Capability.RECORDS)
def test_rows_follow_ups_and_the_end_commit_together(store: Store) -> None:
    job = start_job(store)

    with store.transaction() as tx:
        assert write_together(store, tx, job)

    assert state_of(store, job.id) is State.SUCCEEDED
    assert store.records.find("invoices", "42") is not None
    assert count_of(store, kinds=("mail",)) == 1


@promise(6)
@needs(Capability.RECORDS)
def test_rows_follow_ups_and_the_end_roll_back_together(store: Store) -> None:
    job = start_job(store)

    with pytest.raises(Undone), store.transaction() as tx:
        write_together(store, tx, job)
        raise Undone

    assert state_of(store, job.id) is State.RUNNING
    assert store.records.find("invoices", "42") is None
    assert count_of(store, kinds=("mail",)) == 0
    assert settle_done(store, job) == [job.id]


@promise(3, 6)
@needs(Capability.RECORDS)
def test_a_stale_holder_learns_before_its_commit_that_nothing_may_be_written(
    store: Store, tempo: Tempo
) -> None:
    first = start_job(store, seconds=tempo.lease)
    tempo.passes(31)
    claim_one(store, owner="b")

    with pytest.raises(Undone), store.transaction() as tx:
        assert not write_together(store, tx, first)
        raise Undone

    assert state_of(store, first.id) is State.RUNNING
    assert count_of(store, kinds=("mail",)) == 0


@promise(6)
@needs(Capability.HISTORY)
def test_an_error_settled_in_a_transaction_has_its_history(store: Store) -> None:
    job = start_job(store)
    item = Settlement(lease=job.lease, state=State.FAILED, entry="failed", failure=OOPS)

    with store.transaction() as tx:
        store.jobs.settle([item], tx=tx)

    assert state_of(store, job.id) is State.FAILED
    assert entries_of(store, job.id) == ["failed"]


@promise(6)
@needs(Capability.RECORDS)
def test_records_changed_in_a_transaction_go_with_its_rollback(store: Store) -> None:
    kept = store.records.put(Record(collection="c", name="kept", data={"n": 1}))

    with pytest.raises(Undone), store.transaction() as tx:
        store.records.remove("c", "kept", tx=tx)
        store.records.upsert(Record(collection="c", name="new"), tx=tx)
        raise Undone

    found = store.records.find("c", "kept")
    assert found is not None
    assert (found.version, found.data) == (kept.version, {"n": 1})
    assert store.records.find("c", "new") is None
