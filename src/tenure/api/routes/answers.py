"""Answers that several routes give."""

from __future__ import annotations

import hashlib
from typing import Any

from fastapi import Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from tenure.api.once import Answer

Responses = dict[int | str, dict[str, Any]]


def may(*statuses: int) -> Responses:
    """The problems that a route can answer beside those that every route can."""
    return {status: {} for status in statuses}


def created(answer: Answer) -> Response:
    """A new job, or the one that was there."""
    headers = {"location": f"/api/jobs/{answer.body['jobId']}"}
    if answer.again:
        headers["idempotency-replayed"] = "true"
    return JSONResponse(answer.body, answer.status, headers)


def with_etag(shape: BaseModel, if_none_match: str | None) -> Response:
    """304 where the client has it already. The tag is a hash of the whole answer."""
    body = shape.model_dump_json(by_alias=True).encode()
    tag = f'W/"{hashlib.blake2b(body, digest_size=12).hexdigest()}"'
    if if_none_match is not None and _has(if_none_match, tag):
        return Response(status_code=304, headers={"etag": tag})
    headers = {"etag": tag, "cache-control": "private, no-cache"}
    return Response(body, media_type="application/json", headers=headers)


def _has(if_none_match: str, tag: str) -> bool:
    """Weak comparison: `W/` makes no difference."""
    given = (part.strip().removeprefix("W/") for part in if_none_match.split(","))
    return any(part in ("*", tag.removeprefix("W/")) for part in given)
