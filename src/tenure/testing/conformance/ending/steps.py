"""Steps: written by the present holder alone, kept over retries, gone with the job."""

from __future__ import annotations

from datetime import timedelta

from tenure.core.capability import Capability
from tenure.core.filter import JobFilter
from tenure.core.job import State
from tenure.stores.contract import Store
from tenure.testing.conformance.actions import (
    add_job,
    at_once,
    claim_all,
    claim_one,
    retry,
    settle,
    settle_done,
    start_job,
)
from tenure.testing.conformance.promise import promise
from tenure.testing.tempo import Tempo

NEEDS = (Capability.STEPS,)


@promise(16)
def test_a_step_is_there_for_the_next_run(store: Store) -> None:
    job = start_job(store)
    assert store.steps.remember(job.lease, "charge", '{"paid":42}')
    assert store.steps.remember(job.lease, "Charge", "null")
    assert settle(store, job, State.QUEUED, entry="error")

    again = claim_one(store)
    assert dict(store.steps.recall(again.id)) == {"charge": '{"paid":42}', "Charge": "null"}
    assert dict(store.steps.recall(add_job(store))) == {}


@promise(3, 16)
def test_a_late_worker_remembers_nothing(store: Store, tempo: Tempo) -> None:
    first = start_job(store, seconds=tempo.lease)
    tempo.passes(31)
    second = claim_one(store, owner="b")

    assert not store.steps.remember(first.lease, "charge", "1")
    assert store.steps.remember(second.lease, "charge", "0")
    assert store.steps.remember(second.lease, "charge", "2")
    settle_done(store, second)
    assert not store.steps.remember(second.lease, "more", "3")
    assert dict(store.steps.recall(first.id)) == {"charge": "2"}


@promise(16)
def test_a_large_result_and_strange_names_are_kept(store: Store) -> None:
    job = start_job(store)
    large = '"' + "ü" * 100_000 + '"'
    for name in ("größe:✓", "a b", "%s :name", "x" * 200):
        assert store.steps.remember(job.lease, name, large)

    assert set(store.steps.recall(job.id).values()) == {large}
    assert len(store.steps.recall(job.id)) == 4


@promise(16)
def test_an_operators_retry_keeps_what_is_done(store: Store) -> None:
    job = start_job(store)
    store.steps.remember(job.lease, "charge", "1")
    settle(store, job, State.DEAD, entry="error")
    assert retry(store, job.id).changed == 1

    assert dict(store.steps.recall(job.id)) == {"charge": "1"}


@promise(16)
def test_steps_go_with_their_job(store: Store) -> None:
    job = start_job(store)
    store.steps.remember(job.lease, "charge", "1")
    settle_done(store, job)
    store.jobs.purge(JobFilter(), store.now() + timedelta(hours=1))

    assert dict(store.steps.recall(job.id)) == {}


@promise(3, 16)
def test_a_step_is_either_written_before_the_job_is_taken_over_or_not_at_all(
    store: Store, tempo: Tempo
) -> None:
    first = start_job(store, seconds=tempo.lease)
    tempo.passes(31)

    def act(number: int) -> object:
        if not number:
            return store.steps.remember(first.lease, "charge", "1")
        for _ in range(1_000):  # a row that is being written is passed over
            if got := claim_all(store, owner="b"):
                return got[0]
        raise AssertionError("nobody can take it over")

    written, second = at_once(2, act)
    assert not isinstance(second, Exception)
    assert dict(store.steps.recall(first.id)) == ({"charge": "1"} if written else {})
