"""Jobs as `--json` and `--jsonl` print them: in the shapes of the HTTP API, made in one place.

docs/glossary.md has the rule, and the few words that differ from those of Python.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from pydantic import BaseModel

from tenure.api.kit.shapes import jobs as shapes
from tenure.core.job import Job
from tenure.core.rules.why import Why
from tenure.jobs.reference import JobRef
from tenure.stores.contract import Attempt, LogLine


def light(job: Job) -> dict[str, Any]:
    """Everything but payload and result."""
    return plain(shapes.light(job))


def whole(job: Job, history: list[Attempt], why: Why) -> dict[str, Any]:
    """With payload, result, the last error and the reason why it is not running."""
    return plain(shapes.whole(job, history, why))


def attempt(one: Attempt) -> dict[str, Any]:
    """A line of the history."""
    return plain(shapes.attempt(one))


def log_line(line: LogLine) -> dict[str, Any]:
    """A line that a handler wrote."""
    return plain(shapes.log_line(line))


def reason(why: Why) -> dict[str, Any]:
    """Why a job is not running."""
    return plain(shapes.WhyShape(code=why.code, text=why.text))


def added(ref: JobRef) -> dict[str, Any]:
    """The answer to an enqueue."""
    return plain(shapes.AddedShape(job_id=ref.id, created=ref.created))


def items(found: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """A list that has no further pages."""
    return {"items": list(found)}


def plain(shape: BaseModel) -> dict[str, Any]:
    """A shape of the API as JSON has it."""
    return shape.model_dump(mode="json", by_alias=True)


def facts(job: Job) -> dict[str, Any]:
    """Everything but payload and result in Python's words, for people."""
    found = asdict(job)
    del found["payload_json"], found["result_json"]
    return found


def last_error(history: Sequence[Attempt]) -> dict[str, Any] | None:
    """The newest failure in a history."""
    return next((one.failure for one in reversed(history) if one.failure is not None), None)
