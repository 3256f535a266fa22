"""`/api/limits/{kind}/hold` and `/release`: jobs of a key or a kind that must not start now."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException
from pydantic import ConfigDict, Field, field_validator, model_validator

from tenure.api.kit.identity import SiteAdmin
from tenure.api.kit.service import Engine
from tenure.api.kit.shapes.charts import HoldShape, hold_shape
from tenure.api.kit.shapes.shape import Input, Moment, Shape, a_number, a_text
from tenure.api.routes.limits import KindPath
from tenure.core.rules.holds import LONGEST_REASON, MOST_PROBES
from tenure.core.rules.limits import LONGEST_PERIOD

router = APIRouter(prefix="/api", tags=["limits"])


class HoldInput(Input):
    """Until when, as a time or in seconds from now, and why. Without a key: the whole kind."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"key": "acme", "seconds": 60, "reason": "503 from acme"}]}
    )

    key: str | None = Field(default=None, min_length=1)
    until: Moment | None = None
    seconds: float | None = Field(default=None, gt=0, le=LONGEST_PERIOD)
    reason: str = Field(min_length=1, max_length=LONGEST_REASON)
    probes: int = Field(default=0, ge=0, le=MOST_PROBES)

    _numbers = field_validator("seconds", "probes", mode="before")(a_number)
    _moment = field_validator("until", mode="before")(a_text)

    @model_validator(mode="after")
    def _one_end(self) -> HoldInput:
        if (self.until is None) == (self.seconds is None):
            raise ValueError("give until or seconds, one of them")
        return self


class ReleaseInput(Input):
    """The key to release. Without one: the whole kind."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"key": "acme"}]})

    key: str | None = Field(default=None, min_length=1)


WHOLE_KIND = ReleaseInput()


class ReleasedShape(Shape):
    """Whether there was a hold to end."""

    kind: str
    key: str | None
    released: bool


@router.post("/limits/{kind:path}/hold", operation_id="holdKey")
def hold_key(kind: KindPath, asked: HoldInput, caller: SiteAdmin, engine: Engine) -> HoldShape:
    """Hold a kind, or one key within it: its jobs do not start before the given time. With
    `probes`, that many jobs may try then, and the hold lasts until it is released.
    """
    until = asked.until if asked.until is not None else asked.seconds
    assert until is not None  # noqa: S101 - the input has one of them
    made = engine.limits.hold(kind, asked.key, until, asked.reason, probes=asked.probes)
    facts = {"key": asked.key, "until": made.until.isoformat(), "reason": asked.reason}
    engine.operator.audit.note(caller.name, "limit.held", kind, **facts)
    return hold_shape(made)


@router.post("/limits/{kind:path}/release", operation_id="releaseKey")
def release_key(
    kind: KindPath, caller: SiteAdmin, engine: Engine, asked: ReleaseInput = WHOLE_KIND
) -> ReleasedShape:
    """End a hold. The jobs start again within a second."""
    if known := engine.limits.release(kind, asked.key):
        engine.operator.audit.note(caller.name, "limit.released", kind, key=asked.key)
    return ReleasedShape(kind=kind, key=asked.key, released=known)


# A kind may have slashes, so `PUT /limits/{kind}` would take these paths for kinds of that name.
@router.put("/limits/{kind:path}/hold", include_in_schema=False)
@router.delete("/limits/{kind:path}/hold", include_in_schema=False)
@router.put("/limits/{kind:path}/release", include_in_schema=False)
@router.delete("/limits/{kind:path}/release", include_in_schema=False)
def other_methods(kind: str, caller: SiteAdmin) -> None:
    """Refuse what is neither a hold nor a release."""
    raise HTTPException(405)
