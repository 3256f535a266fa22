"""Jobs and their histories as a program reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from tenure.core.job import Job
from tenure.stores.contract import Attempt


def light(job: Job) -> dict[str, Any]:
    """Everything but payload and result."""
    found = asdict(job)
    del found["payload"], found["result"]
    return found


def whole(job: Job, history: Sequence[Attempt]) -> dict[str, Any]:
    """With payload, result and the last error."""
    return {
        **light(job),
        "payload": job.arguments,
        "result": job.value,
        "last_error": last_error(history),
    }


def last_error(history: Sequence[Attempt]) -> dict[str, Any] | None:
    """The newest failure that the history tells of."""
    return next((one.failure for one in reversed(history) if one.failure is not None), None)


def attempt(one: Attempt) -> dict[str, Any]:
    """A line of the history."""
    return {**asdict(one), "duration_seconds": one.duration_seconds}
