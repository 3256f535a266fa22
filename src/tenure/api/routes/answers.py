"""Answers that several routes give."""

from __future__ import annotations

import hashlib
from typing import Annotated

from fastapi import Path, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from tenure.api.kit.idempotency import Answer
from tenure.asgi.messages import Application, Receive, Scope, Send

JobId = Annotated[str, Path(alias="jobId", examples=["42"])]


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
    headers = {"etag": tag, "cache-control": "private, no-cache"}
    if if_none_match is not None and _has(if_none_match, tag):
        return Response(status_code=304, headers=headers)
    return Response(body, media_type="application/json", headers=headers)


class Passing(Response):
    """Leaves the answer to an ASGI app, which also hears when the client leaves."""

    def __init__(self, route: Application) -> None:
        super().__init__()
        self._route = route

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As if it were mounted here."""
        await self._route(scope, receive, send)


def _has(if_none_match: str, tag: str) -> bool:
    """Weak comparison: `W/` makes no difference."""
    given = (part.strip().removeprefix("W/") for part in if_none_match.split(","))
    return any(part in ("*", tag.removeprefix("W/")) for part in given)
