"""Purging: finished jobs only, with all that hangs on them, a chunk at a time."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tenure.core.errors import OptionError
from tenure.core.filter import JobFilter
from tenure.core.job import DEAD_LETTERS, State
from tenure.stores.contract import LogLine, Report, Store
from tenure.testing.conformance.promise import promise
from tenure.testing.conformance.steps import (
    OOPS,
    add_job,
    add_jobs,
    cancel,
    claim_all,
    claim_one,
    count_of,
    finished_job,
    ids_of,
    job_of,
    settle,
    settle_done,
    start_job,
)
from tenure.testing.tempo import Tempo


def purge(store: Store, limit: int = 500, **conditions: object) -> int:
    """All that has finished until now and a little beyond."""
    before = store.now() + timedelta(seconds=1)
    return store.jobs.purge(JobFilter(**conditions), before, limit)  # type: ignore[arg-type]


def test_finished_jobs_are_removed(store: Store) -> None:
    done, skipped = finished_job(store), finished_job(store, State.SKIPPED)
    canceled = add_job(store)
    cancel(store, canceled)

    assert purge(store) == 3
    assert [store.jobs.get(job_id) for job_id in (done, skipped, canceled)] == [None] * 3


@promise(1)
def test_open_jobs_are_never_removed(store: Store) -> None:
    running, waiting = start_job(store).id, add_job(store)

    assert purge(store) == 0
    assert purge(store, states=(State.QUEUED, State.RUNNING)) == 0
    assert ids_of(store) == [running, waiting]


@promise(1)
def test_a_job_that_waits_for_its_retry_is_never_removed(store: Store) -> None:
    settle(store, start_job(store), State.QUEUED, entry="error", delay_seconds=60)

    assert purge(store) == 0


def test_failed_and_dead_jobs_stay_unless_they_are_named(store: Store) -> None:
    failed, dead = finished_job(store, State.FAILED), finished_job(store, State.DEAD)

    assert purge(store) == 0
    assert purge(store, kinds=("work",)) == 0
    assert ids_of(store) == [failed, dead]
    assert purge(store, states=(State.FAILED,)) == 1
    assert purge(store, states=DEAD_LETTERS) == 1


def test_only_what_finished_before_the_moment_is_removed(store: Store, tempo: Tempo) -> None:
    finished_job(store)
    tempo.passes(5)
    late = finished_job(store)
    finished_at = job_of(store, late).finished_at
    assert finished_at is not None

    assert store.jobs.purge(JobFilter(), finished_at) == 1
    assert ids_of(store) == [late]


def test_a_purge_keeps_to_its_filter(store: Store) -> None:
    finished_job(store, tenant="a")
    kept = finished_job(store, tenant="b")

    assert purge(store, tenant="a") == 1
    assert ids_of(store) == [kept]


def test_history_and_logs_go_with_their_job(store: Store) -> None:
    job = start_job(store)
    store.jobs.report([Report(lease=job.lease, lines=[LogLine("x")])])
    settle(store, job, State.FAILED, entry="failed", failure=OOPS)
    kept = finished_job(store, State.DEAD)
    assert (len(store.jobs.history(job.id)), len(store.jobs.logs(job.id))) == (1, 1)

    assert purge(store, ids=(job.id,), states=(State.FAILED,)) == 1
    assert (list(store.jobs.history(job.id)), list(store.jobs.logs(job.id))) == ([], [])
    assert len(store.jobs.history(kept)) == 1


@pytest.mark.parametrize(("limit", "chunks"), [(10, [10, 10, 5, 0]), (25, [25, 0])])
def test_a_purge_removes_one_chunk_at_a_time(store: Store, limit: int, chunks: list[int]) -> None:
    add_jobs(store, 25)
    settle_done(store, *claim_all(store))

    assert [purge(store, limit=limit) for _ in chunks] == chunks
    assert count_of(store) == 0


def test_an_id_is_not_used_again_after_a_purge(store: Store) -> None:
    last = finished_job(store)
    purge(store)

    assert int(add_job(store)) > int(last)


@promise(3)
def test_a_holder_of_a_purged_job_changes_nothing(store: Store) -> None:
    add_job(store)
    job = claim_one(store)
    settle_done(store, job)
    purge(store)

    assert settle_done(store, job) == []
    assert store.jobs.extend([job.lease], 60).lost == {job.id}
    assert store.jobs.report([Report(lease=job.lease, lines=[LogLine("x")])]) == {job.id}


def test_a_purge_wants_to_know_the_time_zone(store: Store) -> None:
    done = finished_job(store)

    with pytest.raises(OptionError, match="before must have a time zone"):
        store.jobs.purge(JobFilter(), store.now().replace(tzinfo=None))
    assert ids_of(store) == [done]
