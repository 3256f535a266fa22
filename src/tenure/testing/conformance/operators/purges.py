"""Purging: finished jobs only, with all that hangs on them, a chunk at a time."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tenure.core.capability import Capability
from tenure.core.errors import OptionError
from tenure.core.filter import JobFilter
from tenure.core.job import DEAD_LETTERS, State
from tenure.core.rules.retention import Purged
from tenure.stores.contract import LogLine, Report, Store
from tenure.testing.conformance.actions import (
    HOUR,
    OOPS,
    add,
    add_job,
    add_jobs,
    cancel,
    claim_all,
    claim_one,
    count_of,
    finished_job,
    ids_of,
    job_of,
    keyed,
    settle,
    settle_done,
    start_job,
)
from tenure.testing.conformance.promise import needs, promise
from tenure.testing.tempo import Tempo

MANY = 1_100  # more than one chunk walks over


def purge(store: Store, limit: int = 500, **conditions: Any) -> int:
    """All that has finished until now and a little beyond."""
    return chunk(store, limit=limit, **conditions).removed


def chunk(store: Store, after: str | None = None, limit: int = 500, **conditions: Any) -> Purged:
    """One chunk behind `after`."""
    before = store.now() + timedelta(seconds=1)
    return store.jobs.purge(JobFilter(**conditions), before, limit, after)


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

    assert store.jobs.purge(JobFilter(), finished_at).removed == 1
    assert ids_of(store) == [late]


def test_a_purge_keeps_to_its_filter(store: Store) -> None:
    finished_job(store, tenant="a")
    kept = finished_job(store, tenant="b")

    assert purge(store, tenant="a") == 1
    assert ids_of(store) == [kept]


@needs(Capability.HISTORY, Capability.REPORTS)
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


def test_a_purge_goes_on_behind_its_last_chunk(store: Store) -> None:
    ids = add_jobs(store, 25)
    settle_done(store, *claim_all(store))

    first = chunk(store, limit=10)
    second = chunk(store, first.next, limit=100)

    assert (first.removed, first.next) == (10, ids[9])
    assert (second.removed, second.next) == (15, None)


def test_a_chunk_walks_over_a_bounded_number_of_jobs(store: Store) -> None:
    finished_job(store)
    waiting = add_jobs(store, MANY)
    cancel(store, waiting[-1])

    begun = chunk(store, limit=100)
    assert begun.removed == 1
    assert begun.next is not None
    assert begun.next in waiting[:-1]
    assert begun.reached == job_of(store, begun.next).created_at
    assert chunk(store, begun.next, limit=100) == Purged(removed=1)
    assert count_of(store) == MANY - 1


def test_named_jobs_need_no_walk(store: Store) -> None:
    add_jobs(store, MANY)
    canceled = add_job(store)
    cancel(store, canceled)

    assert chunk(store, limit=100, ids=(canceled,)) == Purged(removed=1)


def test_dead_letters_are_found_without_walking_over_all_the_others(store: Store) -> None:
    dead = start_job(store, priority=0)
    add_jobs(store, MANY)
    last = start_job(store, priority=0)
    for job in (dead, last):
        settle(store, job, State.DEAD, entry="error", failure=OOPS)

    assert chunk(store, limit=100, states=DEAD_LETTERS) == Purged(removed=2)


def test_a_place_that_is_none_is_refused(store: Store) -> None:
    with pytest.raises(OptionError, match="not a position"):
        chunk(store, "somewhere")


@needs(Capability.UNIQUE_KEYS)
def test_a_chunk_removes_a_bounded_number_of_keys(store: Store, tempo: Tempo) -> None:
    add(store, *(keyed(str(number), window=tempo.seconds(10)) for number in range(25)))
    add(store, keyed("kept", window=HOUR))
    tempo.passes(11)

    assert [chunk(store, limit=10).keys for _ in range(4)] == [10, 10, 5, 0]
    assert not add(store, keyed("kept", window=HOUR))[0].created


def test_an_id_is_not_used_again_after_a_purge(store: Store) -> None:
    last = finished_job(store)
    purge(store)

    assert add_job(store) != last


@promise(3)
@needs(Capability.REPORTS)
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
