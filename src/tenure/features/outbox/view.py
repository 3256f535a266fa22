"""The outbox as it is seen: PENDING → PROCESSING → SENT | FAILED, one row for each subscriber.

A read-only translation of jobs. An event that is not yet dispatched, or that nobody wants, is a row
without a subscriber; once it is dispatched its deliveries stand for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from tenure.core.errors import JobNotFound, OptionError
from tenure.core.filter import JobFilter
from tenure.core.job import Job, State
from tenure.core.page import Page
from tenure.features.outbox.dispatch import DISPATCH
from tenure.features.outbox.patterns import matches, overlap
from tenure.features.outbox.subscription import KIND, Subscription, kind_of, named

if TYPE_CHECKING:
    from tenure.app import Tenure

PAGE = 200


class Status(StrEnum):
    """Where an event is on its way to one subscriber."""

    PENDING = "PENDING"
    PROCESSING = "PROCESSING"
    SENT = "SENT"
    FAILED = "FAILED"


STATUS = {
    State.QUEUED: Status.PENDING,
    State.RUNNING: Status.PROCESSING,
    State.SUCCEEDED: Status.SENT,
    State.SKIPPED: Status.SENT,
    State.FAILED: Status.FAILED,
    State.DEAD: Status.FAILED,
    State.CANCELED: Status.FAILED,
    State.NOT_FOUND: Status.FAILED,
}
UNSENT = tuple(state for state, status in STATUS.items() if status is not Status.SENT)
NO_ERROR_YET = {State.QUEUED: 0, State.RUNNING: 1, State.SUCCEEDED: 1}
"""Up to this fence nothing can have gone wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewFilter:
    """All conditions that are set must hold."""

    status: Status | str | None = None
    type: str | None = None
    subscriber: str | None = None
    tenant: str | None = None
    owner: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxEvent:
    """A row of the view; `id` is that of its job."""

    id: str
    event_id: str
    type: str
    subscriber: str | None
    status: Status
    aggregate_type: str | None
    aggregate_id: str | None
    payload: Any
    attempts: int
    max_attempts: int
    available_at: datetime
    locked_by: str | None
    locked_until: datetime | None
    last_error: str | None
    tenant_id: str
    correlation_id: str | None
    created_at: datetime
    finished_at: datetime | None

    def to_dict(self) -> dict[str, Any]:
        """For programs: `availableAt`, `lockedBy` …"""
        return {_camel(name): getattr(self, name) for name in self.__dataclass_fields__}


def view(
    app: Tenure, known: Sequence[Subscription], where: ViewFilter, limit: int, after: str | None
) -> Page[OutboxEvent]:
    """One page. It reads on where rows of dispatched events are left out."""
    asked, rows = _jobs(known, where), list[OutboxEvent]()
    while True:
        page = app.insight.page(asked, limit=limit - len(rows), after=after)
        whole = app.store.jobs.look([job.id for job in page.rows])
        jobs = [whole[job.id] for job in page.rows if job.id in whole]
        rows += [row for row in _rows(app, jobs) if _of_type(where, row)]
        after = page.next
        if after is None or len(rows) >= limit:
            return Page(rows, after)


def _of_type(where: ViewFilter, row: OutboxEvent) -> bool:
    return where.type is None or matches(where.type, row.type)


def find(
    app: Tenure, known: Sequence[Subscription], event_id: str, tenant: str
) -> list[OutboxEvent]:
    """Its deliveries by their key; before those an id that the caller chose is in the payload."""
    sent = JobFilter(kinds=tuple(one.kind for one in known), key=event_id, tenant=tenant)
    waiting = JobFilter(kinds=(DISPATCH,), states=UNSENT, tenant=tenant)
    jobs = [*app.insight.stream(sent)] if known else []
    jobs += [job for job in app.insight.stream(waiting) if job.key in (None, event_id)]
    rows = [
        row for part in _parts(jobs) for row in _rows(app, list(app.store.jobs.look(part).values()))
    ]
    return [row for row in rows if row.event_id == event_id]


def _parts(jobs: Sequence[Job]) -> Iterator[list[str]]:
    for first in range(0, len(jobs), PAGE):
        yield [job.id for job in jobs[first : first + PAGE]]


def get(app: Tenure, id: str) -> OutboxEvent:
    """One row. A dispatched event has the status of its least advanced delivery."""
    job = app.get(id)
    if job.kind != DISPATCH and not job.kind.startswith(KIND):
        raise JobNotFound(f"{id} in the outbox: it is of kind {job.kind}")
    row = _row(app, job)
    if job.kind != DISPATCH or row.status is not Status.SENT:
        return row
    return replace(row, status=overall(_deliveries(app, job, row)))


def overall(statuses: Collection[Status]) -> Status:
    """The status of an event with several subscribers: SENT only if all have received it."""
    for status in (Status.FAILED, Status.PROCESSING, Status.PENDING):
        if status in statuses:
            return status
    return Status.SENT


def _deliveries(app: Tenure, job: Job, row: OutboxEvent) -> list[Status]:
    """The statuses of its deliveries that are not yet purged."""
    result = job.result or {}
    names = result.get("subscribers", ())
    types = result.get("types", [row.type] * len(names))
    kinds = tuple(kind_of(*pair) for pair in zip(types, names, strict=False))
    where = JobFilter(kinds=kinds, key=row.event_id, tenant=job.tenant)
    return [status_of(one) for one in app.insight.page(where, limit=max(1, len(kinds))).rows]


def status_of(job: Job) -> Status:
    """In the words of the outbox; retrying is PENDING with `availableAt` later."""
    return STATUS[job.state]


def _jobs(known: Sequence[Subscription], where: ViewFilter) -> JobFilter:
    wanted = [
        one.kind
        for one in known
        if (where.type is None or overlap(where.type, one.type))
        and where.subscriber in (None, one.subscriber)
    ]
    kinds = wanted if where.subscriber is not None else [*wanted, DISPATCH]
    return JobFilter(
        kinds=tuple(kinds),
        states=_states(where.status),
        tenant=where.tenant,
        owner=where.owner,
    )


def _states(status: str | None) -> tuple[State, ...] | None:
    if status is None:
        return None
    if status not in list(Status):
        raise OptionError(f"status {status!r} is not one of {', '.join(Status)}")
    return tuple(state for state, shown in STATUS.items() if shown == status)


def _rows(app: Tenure, jobs: Sequence[Job]) -> list[OutboxEvent]:
    return [_row(app, job) for job in jobs if job.kind != DISPATCH or status_of(job) != Status.SENT]


def _row(app: Tenure, job: Job) -> OutboxEvent:
    event = (job.payload or {}).get("event", {})
    running = job.state is State.RUNNING
    return OutboxEvent(
        id=job.id,
        event_id=event.get("id", ""),
        type=event.get("type", ""),
        subscriber=None if job.kind == DISPATCH else named(job.kind)[1],
        status=status_of(job),
        aggregate_type=event.get("aggregate_type"),
        aggregate_id=event.get("aggregate_id"),
        payload=event.get("data"),
        attempts=job.attempt,
        max_attempts=job.max_attempts,
        available_at=job.run_at,
        locked_by=job.lease_owner if running else None,
        locked_until=job.lease_until if running else None,
        last_error=_last_error(app, job),
        tenant_id=job.tenant,
        correlation_id=job.correlation_id,
        created_at=job.created_at,
        finished_at=job.finished_at,
    )


def _last_error(app: Tenure, job: Job) -> str | None:
    """The newest failure, read only for jobs that may have had one."""
    if job.fence <= NO_ERROR_YET.get(job.state, -1):
        return None
    told = [one.failure for one in app.insight.history(job) if one.failure is not None]
    if not told:
        return job.reason
    return f"{told[-1].get('code') or told[-1]['type']}: {told[-1]['message']}"


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
