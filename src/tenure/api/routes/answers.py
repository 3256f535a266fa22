"""Answers that several routes share."""

from __future__ import annotations

import hashlib
from typing import Annotated

from fastapi import Path, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from pydantic.config import JsonDict

from tenure.api.kit.idempotency import Answer
from tenure.api.kit.shapes.words import JOB_ID
from tenure.asgi.messages import Application, Receive, Scope, Send
from tenure.jobs.option_values import ID_LENGTH

ID_SCHEMA: JsonDict = {"minLength": 1, "maxLength": ID_LENGTH, "pattern": JOB_ID}
# The schema says what an id looks like. It is not enforced here: an id that no job can have is not
# found (404), like one that no job has.
JobId = Annotated[str, Path(alias="jobId", examples=["42"], json_schema_extra=ID_SCHEMA)]


def created(answer: Answer) -> Response:
    """201 or 200 for a new job or the one with its key."""
    headers = {"location": f"/api/jobs/{answer.body['jobId']}"}
    if answer.again:
        headers["idempotency-replayed"] = "true"
    return JSONResponse(answer.body, answer.status, headers)


def with_etag(shape: BaseModel, if_none_match: str | None) -> Response:
    """The answer with an ETag, a hash of it; 304 if the client has it already."""
    body = shape.model_dump_json(by_alias=True).encode()
    tag = f'W/"{hashlib.blake2b(body, digest_size=12).hexdigest()}"'
    headers = {"etag": tag, "cache-control": "private, no-cache"}
    if if_none_match is not None and _has(if_none_match, tag):
        return Response(status_code=304, headers=headers)
    return Response(body, media_type="application/json", headers=headers)


class Passing(Response):
    """Lets an ASGI app answer, which can then notice that the client disconnects."""

    def __init__(self, route: Application) -> None:
        super().__init__()
        self._route = route

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        await self._route(scope, receive, send)


def _has(if_none_match: str, tag: str) -> bool:
    """Weak comparison: `W/` is ignored."""
    given = (part.strip().removeprefix("W/") for part in if_none_match.split(","))
    return any(part in ("*", tag.removeprefix("W/")) for part in given)
