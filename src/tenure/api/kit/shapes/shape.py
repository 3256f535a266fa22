"""Base classes and types of all shapes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, PlainSerializer
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError


class Shape(BaseModel):
    """An answer: `jobId` in JSON, `job_id` in Python."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True)


class Input(BaseModel):
    """A request: unknown fields are refused."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=False, extra="forbid", frozen=True
    )


def a_number(value: object) -> object:
    """Refuse `"1"` and `true` as numbers, which pydantic would convert."""
    if isinstance(value, bool | str):
        raise PydanticCustomError("number_type", "Input should be a number")
    return value


def a_text(value: object) -> object:
    """Refuse numbers as times: pydantic would take `5` for a time in 1970."""
    if isinstance(value, int | float):
        raise PydanticCustomError("text_type", "Input should be a text")
    return value


def _zulu(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


Moment = Annotated[datetime, PlainSerializer(_zulu, return_type=str, when_used="json")]
"""RFC 3339 in UTC with microseconds: every time has the same length, and sorts as text."""

When = Annotated[
    AwareDatetime,
    Field(ge=datetime(1970, 1, 1, tzinfo=UTC), lt=datetime(9000, 1, 1, tzinfo=UTC),
          examples=["2026-11-16T04:30:00Z"]),
]  # fmt: skip
"""A time with a zone that every database can keep, and every zone can show."""
