"""`/api/schedules`: see, pause, edit and run schedules."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path

from tenure.api.kit.answers import may
from tenure.api.kit.identity import SiteAdmin, SiteReader
from tenure.api.kit.service import Engine
from tenure.api.kit.shapes.jobs import AddedShape
from tenure.api.kit.shapes.words import PLAIN
from tenure.core.errors import OptionError
from tenure.features.schedules.schedules import Schedules
from tenure.features.schedules.shapes import (
    EditInput,
    ScheduleShape,
    SchedulesShape,
    schedule_shape,
    schedule_shapes,
)
from tenure.jobs.options import LENGTHS

Name = Annotated[str, Path(pattern=PLAIN, max_length=LENGTHS["schedule"], examples=["nightly"])]
router = APIRouter(prefix="/api/schedules", tags=["schedules"])


@router.get("", operation_id="listSchedules")
def list_schedules(caller: SiteReader, engine: Engine) -> SchedulesShape:
    """List all schedules, including those that the code no longer declares."""
    return SchedulesShape(items=schedule_shapes(engine, Schedules.of(engine).list()))


@router.get("/{name}", operation_id="getSchedule", responses=may(404))
def get_schedule(name: Name, caller: SiteReader, engine: Engine) -> ScheduleShape:
    """Get one schedule."""
    return schedule_shape(engine, Schedules.of(engine).get(name))


@router.patch("/{name}", operation_id="editSchedule", responses=may(404, 409))
def edit_schedule(name: Name, asked: EditInput, caller: SiteAdmin, engine: Engine) -> ScheduleShape:
    """Change a schedule at run time. Later deployments keep the change."""
    changes = asked.changes()
    if not changes:
        raise OptionError("say what to edit: cron, every, zone, payload, catchUp or limit")
    return schedule_shape(engine, Schedules.of(engine).edit(name, caller.name, **changes))


@router.post("/{name}/reset", operation_id="resetSchedule", responses=may(404, 409))
def reset_schedule(name: Name, caller: SiteAdmin, engine: Engine) -> ScheduleShape:
    """Discard what operators have changed: the code's declaration applies again."""
    return schedule_shape(engine, Schedules.of(engine).reset(name, caller.name))


@router.post("/{name}/pause", operation_id="pauseSchedule", responses=may(404, 409))
def pause_schedule(name: Name, caller: SiteAdmin, engine: Engine) -> ScheduleShape:
    """Pause a schedule: none of its slots fires until it is resumed."""
    return schedule_shape(engine, Schedules.of(engine).pause(name, caller.name))


@router.post("/{name}/resume", operation_id="resumeSchedule", responses=may(404, 409))
def resume_schedule(name: Name, caller: SiteAdmin, engine: Engine) -> ScheduleShape:
    """Resume a schedule with its next slot."""
    return schedule_shape(engine, Schedules.of(engine).resume(name, caller.name))


@router.post("/{name}/run", operation_id="runSchedule", status_code=201, responses=may(404))
def run_schedule(name: Name, caller: SiteAdmin, engine: Engine) -> AddedShape:
    """Add one job of the schedule now, in addition to its slots."""
    ref = Schedules.of(engine).run_now(name)
    engine.operator.audit.note(caller.name, "schedule.run", name, job=ref.id)
    return AddedShape(job_id=ref.id, created=ref.created)
