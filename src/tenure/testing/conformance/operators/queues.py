"""Queues as operators see them: paused, resumed, and how deep they are."""

from __future__ import annotations

from datetime import timedelta

from tenure.core.capability import Capability
from tenure.core.job import State
from tenure.stores.contract import Store
from tenure.stores.contract.parts import Load
from tenure.testing.conformance.actions import (
    add_job,
    add_jobs,
    cancel,
    claim_all,
    claim_ids,
    finished_job,
    start_job,
)
from tenure.testing.conformance.promise import needs
from tenure.testing.tempo import Tempo


@needs(Capability.PAUSE)
def test_a_paused_queue_is_not_claimed_from(store: Store) -> None:
    add_job(store)
    store.queues.pause("default", "ada")

    assert claim_ids(store) == []


@needs(Capability.PAUSE)
def test_a_resumed_queue_is_claimed_from_again(store: Store) -> None:
    job_id = add_job(store)
    store.queues.pause("default", "ada")
    store.queues.resume("default", "ada")

    assert claim_ids(store) == [job_id]


@needs(Capability.PAUSE)
def test_a_pause_holds_up_no_other_queue(store: Store) -> None:
    add_job(store)
    mail = add_job(store, queue="mail")
    store.queues.pause("default", "ada")

    assert claim_ids(store, slots={"default": 5, "mail": 5}) == [mail]


@needs(Capability.PAUSE)
def test_the_list_tells_who_paused_and_since_when(store: Store) -> None:
    assert store.queues.list() == []
    before = store.now()
    store.queues.pause("mail", "ada")

    [queue] = store.queues.list()
    assert (queue.name, queue.paused, queue.by) == ("mail", True, "ada")
    assert queue.since is not None
    assert before <= queue.since <= store.now()


@needs(Capability.PAUSE)
def test_a_second_pause_does_not_change_the_first(store: Store, tempo: Tempo) -> None:
    store.queues.pause("mail", "ada")
    [first] = store.queues.list()
    tempo.passes(5)
    store.queues.pause("mail", "bob")

    assert store.queues.list() == [first]


@needs(Capability.PAUSE)
def test_a_resumed_queue_stays_in_the_list(store: Store) -> None:
    store.queues.pause("mail", "ada")
    store.queues.resume("mail", "bob")

    [queue] = store.queues.list()
    assert (queue.name, queue.paused) == ("mail", False)


@needs(Capability.COUNTS)
def test_depths_count_open_jobs_by_queue_kind_and_state(store: Store) -> None:
    early = store.now() - timedelta(minutes=5)
    add_jobs(store, 2, run_at=early)
    start_job(store, priority=0)
    add_job(store, kind="mail", queue="mail")

    found = {(d.queue, d.kind, d.state): d for d in store.queues.depths()}

    assert {name: depth.jobs for name, depth in found.items()} == {
        ("default", "work", State.QUEUED): 2,
        ("default", "work", State.RUNNING): 1,
        ("mail", "mail", State.QUEUED): 1,
    }
    assert found["default", "work", State.QUEUED].oldest_run_at == early


@needs(Capability.COUNTS)
def test_finished_jobs_have_no_depth(store: Store) -> None:
    finished_job(store)

    assert store.queues.depths() == []


@needs(Capability.DEPENDENCIES, Capability.COUNTS)
def test_loads_count_open_jobs_by_queue_and_by_why_they_wait(store: Store) -> None:
    early = store.now() - timedelta(minutes=5)
    add_jobs(store, 2, run_at=early)
    add_job(store, delay_seconds=3_600.0)
    start_job(store, priority=0)
    finished_job(store, priority=0)
    first = add_job(store, queue="mail", priority=0)
    add_job(store, queue="mail", after=(first,))
    add_job(store, queue="pdf", after=(first,))

    found = {load.queue: load for load in store.queues.loads()}

    assert found == {
        "default": Load(queue="default", ready=3, due=2, running=1, oldest_run_at=early),
        "mail": Load(
            queue="mail", ready=1, due=1, held=1, oldest_run_at=found["mail"].oldest_run_at
        ),
        "pdf": Load(queue="pdf", held=1),
    }
    assert found["mail"].queued == 2


@needs(Capability.COUNTS)
def test_a_store_tells_how_long_its_statements_take(store: Store) -> None:
    told: dict[str, float] = {}
    store.measure(told.__setitem__)
    add_job(store)
    store.now()
    store.measure(None)
    known = len(told)
    store.queues.loads()

    assert {"store_now", "CONNECTION"} < set(told)
    assert all(seconds >= 0 for seconds in told.values())
    assert len(told) == known


@needs(Capability.COUNTS)
def test_overdue_counts_leases_that_nobody_took_up(store: Store, tempo: Tempo) -> None:
    add_jobs(store, 3)
    claim_all(store, slots=2, lease_seconds=tempo.lease)
    claim_all(store, slots=1)
    assert store.queues.overdue(tempo.hour) == 0
    tempo.passes(41)

    assert store.queues.overdue(tempo.seconds(10)) == 2
    assert store.queues.overdue(tempo.hour) == 0


@needs(Capability.COUNTS)
def test_running_jobs_that_are_asked_to_stop_are_named(store: Store) -> None:
    stopped, other, waiting = start_job(store).id, start_job(store).id, add_job(store)
    cancel(store, stopped)

    assert store.queues.canceled([stopped, other, waiting]) == {stopped}
    assert store.queues.canceled([]) == frozenset()
