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
)
from tenure.jobs.options import LENGTHS

Name = Annotated[str, Path(pattern=PLAIN, max_length=LENGTHS["schedule"], examples=["nightly"])]
router = APIRouter(prefix="/api/schedules", tags=["schedules"])


@router.get("", operation_id="listSchedules")
def list_schedules(caller: SiteReader, engine: Engine) -> SchedulesShape:
    """All, also those that the code no longer declares."""
    return SchedulesShape(items=[schedule_shape(row) for row in Schedules.of(engine).list()])


@router.get("/{name}", operation_id="getSchedule", responses=may(404))
def get_schedule(name: Name, caller: SiteReader, engine: Engine) -> ScheduleShape:
    """One schedule."""
    return schedule_shape(Schedules.of(engine).get(name))


@router.patch("/{name}", operation_id="editSchedule", responses=may(404, 409))
def edit_schedule(name: Name, asked: EditInput, caller: SiteAdmin, engine: Engine) -> ScheduleShape:
    """Change it at run time; later deploys leave that as it is."""
    changes = asked.changes()
    if not changes:
        raise OptionError("say what to edit: cron, every, zone, payload, catchUp or limit")
    return schedule_shape(Schedules.of(engine).edit(name, caller.name, **changes))


@router.post("/{name}/reset", operation_id="resetSchedule", responses=may(404, 409))
def reset_schedule(name: Name, caller: SiteAdmin, engine: Engine) -> ScheduleShape:
    """Forget what operators have edited: the code's word holds again."""
    return schedule_shape(Schedules.of(engine).reset(name, caller.name))


@router.post("/{name}/pause", operation_id="pauseSchedule", responses=may(404, 409))
def pause_schedule(name: Name, caller: SiteAdmin, engine: Engine) -> ScheduleShape:
    """No slot of it fires until it is resumed."""
    return schedule_shape(Schedules.of(engine).pause(name, caller.name))


@router.post("/{name}/resume", operation_id="resumeSchedule", responses=may(404, 409))
def resume_schedule(name: Name, caller: SiteAdmin, engine: Engine) -> ScheduleShape:
    """Go on with the next slot from now."""
    return schedule_shape(Schedules.of(engine).resume(name, caller.name))


@router.post("/{name}/run", operation_id="runSchedule", status_code=201, responses=may(404))
def run_schedule(name: Name, caller: SiteAdmin, engine: Engine) -> AddedShape:
    """Add one job of it now, beside its slots."""
    ref = Schedules.of(engine).run_now(name)
    engine.operator.audit.note(caller.name, "schedule.run", name, job=ref.id)
    return AddedShape(job_id=ref.id, created=ref.created)
