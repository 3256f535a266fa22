"""Schedules as they go in and out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

from pydantic import ConfigDict, Field, field_validator
from pydantic.alias_generators import to_camel

from tenure.api.kit.shapes.shape import Input, Moment, Shape, a_number
from tenure.app import Tenure
from tenure.core.filter import JobFilter
from tenure.core.job import Job, State
from tenure.core.page import MAX_PAGE
from tenure.features.schedules import CatchUp, Schedule
from tenure.features.schedules.terms import MOST_SLOTS, Edit
from tenure.features.schedules.timing import NEVER

A_YEAR = 366 * 86_400
SLOTS_SHOWN = 5


class RunShape(Shape):
    """A job that a schedule added."""

    job_id: str
    state: State
    created_at: Moment
    finished_at: Moment | None


class ScheduleShape(Shape):
    """A schedule and its progress. `every` is in seconds."""

    name: str
    kind: str
    cron: str | None
    every: int | None
    zone: str
    payload: dict[str, Any]
    catch_up: str
    limit: int
    queue: str
    priority: int
    tenant: str
    slot_as: str | None
    state: str = Field(description="`active`, `paused`, or `removed` from the code.")
    enabled: bool = Field(description="False where the code no longer declares it.")
    paused: bool
    paused_by: str | None
    edited: list[str] = Field(description="The fields that operators have changed.")
    next_at: Moment | None
    next: list[Moment] = Field(description="The next five slots; none while it is paused.")
    last_slot: Moment | None
    last_job_id: str | None
    last_runs: list[RunShape] = Field(
        description="The jobs of its last five slots, newest first; purged ones are left out."
    )
    fired: int
    dropped: int
    app: str = Field(description="The app that declares it (`TENURE_APP_NAME`).")
    release: str
    declared_at: Moment | None


class SchedulesShape(Shape):
    """All of them, by name."""

    items: list[ScheduleShape]


class EditInput(Input):
    """The fields to change. `cron` and `every` replace each other."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"cron": "30 2 * * *", "zone": "Europe/Berlin"}]}
    )

    cron: str | None = Field(default=None, min_length=1, max_length=200)
    every: int | None = Field(default=None, ge=1, le=A_YEAR)
    zone: str | None = Field(default=None, min_length=1, max_length=100)
    payload: dict[str, Any] | None = None
    catch_up: CatchUp | None = None
    limit: int | None = Field(default=None, ge=1, le=MOST_SLOTS)

    _numbers = field_validator("every", "limit", mode="before")(a_number)

    def changes(self) -> Edit:
        """The fields that were given."""
        given: Any = self.model_dump(exclude_none=True)
        edit: Edit = given
        return edit


def schedule_shapes(app: Tenure, rows: Sequence[Schedule]) -> list[ScheduleShape]:
    """Rows as answers, with the states of their last jobs."""
    jobs = _last_runs(app, rows)
    return [_schedule_shape(row, jobs) for row in rows]


def schedule_shape(app: Tenure, row: Schedule) -> ScheduleShape:
    """A row as an answer."""
    return schedule_shapes(app, [row])[0]


def _schedule_shape(row: Schedule, jobs: Mapping[str, Job]) -> ScheduleShape:
    terms = row.terms
    return ScheduleShape(
        name=row.name,
        kind=terms.kind,
        cron=terms.cron,
        every=terms.every,
        zone=terms.zone,
        payload=terms.payload,
        catch_up=str(terms.catch_up),
        limit=terms.limit,
        queue=terms.queue,
        priority=terms.priority,
        tenant=terms.tenant,
        slot_as=terms.slot_as,
        state=row.state,
        enabled=row.enabled,
        paused=row.paused,
        paused_by=row.paused_by,
        edited=sorted(map(to_camel, row.edited)),
        next_at=row.next_at if row.active else None,
        next=_next_slots(row),
        last_slot=row.last_slot,
        last_job_id=row.last_job,
        last_runs=[_run(jobs[one]) for one in row.last_jobs if one in jobs],
        fired=row.fired,
        dropped=row.dropped,
        app=row.app,
        release=row.release,
        declared_at=row.declared_at,
    )


def _run(job: Job) -> RunShape:
    return RunShape(
        job_id=job.id, state=job.state, created_at=job.created_at, finished_at=job.finished_at
    )


def _next_slots(row: Schedule) -> list[datetime]:
    """Its next slots; none if it is paused or removed."""
    if not row.active or row.next_at >= NEVER:
        return []
    return [row.next_at, *islice(row.timing().slots(row.next_at), SLOTS_SHOWN - 1)]


def _last_runs(app: Tenure, rows: Sequence[Schedule]) -> dict[str, Job]:
    """The jobs that these schedules added last, by id. Purged ones are missing."""
    ids = [job for row in rows for job in row.last_jobs]
    parts = (ids[first : first + MAX_PAGE] for first in range(0, len(ids), MAX_PAGE))
    return {
        job.id: job
        for part in parts
        for job in app.insight.page(JobFilter(ids=tuple(part)), limit=MAX_PAGE).rows
    }
