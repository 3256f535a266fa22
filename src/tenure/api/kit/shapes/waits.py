"""The answers of a route that waits, as `tenure.asgi.wait` sends them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from tenure.api.kit.shapes.shape import Shape
from tenure.core.job import State


class ReadyShape(Shape):
    """The job has succeeded."""

    status: Literal["READY"]
    job_id: str
    result: Any


class PendingShape(Shape):
    """The job has not ended yet."""

    status: Literal["PENDING"]
    retry_after_ms: int = Field(examples=[2_000])
    job_id: str


class FailedShape(Shape):
    """The job has ended without a result."""

    error: str = Field(examples=["JOB_FAILED"])
    job_id: str
    state: State
    reason: str | None
