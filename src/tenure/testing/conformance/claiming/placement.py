"""Jobs that were added without knowing their handler: they wait until somebody knows it."""

from __future__ import annotations

from tenure.core.capability import Capability
from tenure.core.job import Placement, State, Unplaced
from tenure.stores.contract import Store
from tenure.testing.conformance.actions import (
    add_job,
    add_jobs,
    claim_all,
    claim_ids,
    claim_one,
    job_of,
    settle,
)
from tenure.testing.conformance.promise import promise

NEEDS = (Capability.LATE_PLACEMENT,)

ALL = Unplaced.QUEUE | Unplaced.PRIORITY | Unplaced.MAX_ATTEMPTS
PDF = Placement("pdf", 7, 1)


@promise(11)
def test_a_job_takes_what_its_handler_says(store: Store) -> None:
    number = add_job(store, unplaced=ALL)

    assert store.queues.place({"work": PDF}) == 1

    job = job_of(store, number)
    assert (job.queue, job.priority, job.max_attempts) == ("pdf", 7, 1)
    assert claim_ids(store, slots={"pdf": 5}) == [number]
    assert store.queues.place({"work": PDF}) == 0


@promise(11)
def test_what_the_caller_said_stays(store: Store) -> None:
    number = add_job(store, queue="mail", max_attempts=3, unplaced=Unplaced.PRIORITY)
    store.queues.place({"work": PDF})

    job = job_of(store, number)
    assert (job.queue, job.priority, job.max_attempts) == ("mail", 7, 3)


@promise(11)
def test_jobs_of_other_kinds_and_those_that_are_placed_stay(store: Store) -> None:
    other, placed = add_job(store, kind="other", unplaced=ALL), add_job(store)

    assert store.queues.place({"work": PDF}) == 0
    assert [job_of(store, one).queue for one in (other, placed)] == ["default", "default"]


@promise(11)
def test_one_that_runs_is_placed_when_it_waits_again(store: Store) -> None:
    number = add_job(store, unplaced=ALL)
    job = claim_one(store)
    assert job.unplaced == ALL
    assert store.queues.place({"work": PDF}) == 0
    settle(store, job, State.QUEUED, entry="error")

    assert store.queues.place({"work": PDF}) == 1
    assert job_of(store, number).queue == "pdf"


@promise(11)
def test_many_are_placed_chunk_by_chunk(store: Store) -> None:
    add_jobs(store, 700, unplaced=ALL)

    while store.queues.place({"work": PDF, "none": PDF}):
        pass

    assert len(claim_all(store, slots={"pdf": 1_000})) == 700
