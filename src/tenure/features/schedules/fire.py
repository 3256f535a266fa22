"""Fires what is due of one schedule: its jobs and its next slot in one transaction.

Three things keep a slot from firing twice or not at all. The next slot moves on only in the
transaction that adds the jobs of the slots before it, so a crash loses both or neither. The row
changes only over the version that was read, so of two who fire the same slots one rolls back. And
each slot has a unique key, so that a row that was set back by hand or from a backup adds nothing.
The lock, a lease by the store's clock, only spares the others the work.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from tenure.core.errors import KeyConflict, StoreError, VersionConflict
from tenure.core.job import NewJob
from tenure.features.schedules.due import Due, due
from tenure.features.schedules.schedule import SCHEDULES, Schedule
from tenure.features.schedules.slot import slot_job
from tenure.jobs.transaction import OpenTransaction

if TYPE_CHECKING:
    from tenure.app import Tenure

LOCK = "worker:scheduler:"
LOCK_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Fired:
    """The row afterwards, the ids of new jobs, and how many slots were left out."""

    schedule: Schedule
    jobs: tuple[str, ...]
    dropped: int


def fire(app: Tenure, name: str, owner: str, most: int | None) -> Fired | None:
    """Fire at most `limit` slots; None if another worker is firing this schedule."""
    with _lock(app, name, owner) as held:
        if not held:
            return None
        record = app.store.records.find(SCHEDULES, name)
        if record is None:
            return None
        schedule, now = Schedule.of(record), app.store.now()
        if not schedule.active or schedule.next_at > now:
            return Fired(schedule, (), 0)
        return _write(app, schedule, _due(schedule, now, most))


@contextmanager
def _lock(app: Tenure, name: str, owner: str) -> Iterator[bool]:
    locks = app.store.locks
    lock = locks.acquire(LOCK + name, owner, LOCK_SECONDS)
    try:
        yield lock is not None
    finally:
        if lock is not None:
            with suppress(StoreError):  # it runs out by itself
                locks.release(lock)


def _due(schedule: Schedule, now: datetime, most: int | None) -> Due:
    terms = schedule.terms
    found = due(terms.timing(), schedule.next_at, now, terms.catch_up, terms.limit)
    return found if most is None else found.at_most(most)


def _write(app: Tenure, schedule: Schedule, found: Due) -> Fired | None:
    terms = schedule.terms
    try:
        with app.transaction() as tx:
            jobs = [_add(app, slot_job(app, schedule.name, terms, one), tx) for one in found.slots]
            new = tuple(job for job in jobs if job is not None)
            after = replace(
                schedule.ran(new),
                next_at=found.next_at,
                last_slot=found.slots[-1] if found.slots else schedule.last_slot,
                last_job=new[-1] if new else schedule.last_job,
                fired=schedule.fired + len(new),
                dropped=schedule.dropped + found.dropped,
            )
            app.store.records.put(after.to_record(), tx.inner)
    except VersionConflict:
        return None
    return Fired(after, new, found.dropped)


def _add(app: Tenure, job: NewJob, tx: OpenTransaction) -> str | None:
    """The id of the new job; None if the slot has a job already."""
    try:
        [ref] = app.enqueue_many([job], tx=tx)
    except KeyConflict:
        return None
    return ref.id if ref.created else None
