"""ASGI requests and answers without a framework: headers, JSON, problem documents."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from http import HTTPStatus
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

PROBLEM = "application/problem+json"
PROBLEM_TYPE = "urn:tenure:problem:"


def header(scope: Scope, name: str) -> str | None:
    """The first header of this name, which must be in lower case."""
    return next(iter(lines(scope, name)), None)


def lines(scope: Scope, name: str) -> list[str]:
    """All headers of this name: a list may come in several lines."""
    wanted = name.encode()
    return [value.decode("latin-1") for key, value in scope["headers"] if key == wanted]


def note(scope: Scope, name: str) -> str | None:
    """A value that a middleware stored for this request: `request_id`, `correlation_id`."""
    found: str | None = scope.get("state", {}).get(name)
    return found


async def answer(
    send: Send,
    status: int,
    body: object,
    headers: Mapping[str, str] | None = None,
    content_type: str = "application/json",
) -> None:
    """Send one JSON document."""
    content = json.dumps(body, ensure_ascii=False, default=str).encode()
    sent = {
        "content-type": content_type,
        "content-length": str(len(content)),
        "cache-control": "no-store",
        **(headers or {}),
    }
    listed = [(name.encode(), value.encode("latin-1")) for name, value in sent.items()]
    await send({"type": "http.response.start", "status": status, "headers": listed})
    await send({"type": "http.response.body", "body": content})


async def problem(
    scope: Scope,
    send: Send,
    status: int,
    detail: str,
    headers: Mapping[str, str] | None = None,
    **more: Any,
) -> None:
    """Send an RFC 9457 problem document."""
    body = problem_document(status, detail, request_id=note(scope, "request_id"), **more)
    await answer(send, status, body, headers, PROBLEM)


# Statuses that a protocol on top of HTTP defines: 460 is of tus.
OTHER_PHRASES = {460: "Checksum Mismatch"}


def phrase_of(status: int) -> str:
    """What a status is called."""
    return OTHER_PHRASES[status] if status in OTHER_PHRASES else HTTPStatus(status).phrase


def problem_document(
    status: int,
    detail: str,
    *,
    code: str | None = None,
    title: str | None = None,
    request_id: str | None = None,
    **more: Any,
) -> dict[str, Any]:
    """The shape of every problem: `type` and `code` are for programs and never change."""
    phrase = phrase_of(status)
    word = (code or phrase).lower().replace("_", "-").replace(" ", "-")
    named = {} if request_id is None else {"requestId": request_id}
    return {
        "type": PROBLEM_TYPE + word,
        "title": title or phrase,
        "status": status,
        "detail": detail,
        "code": word,
        **named,
        **more,
    }
