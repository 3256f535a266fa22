"""Requests and answers in ASGI's own words: headers, JSON, problem documents. No framework."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from http import HTTPStatus
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

PROBLEM = "application/problem+json"


def header(scope: Scope, name: str) -> str | None:
    """The first of this name; names are in lower case."""
    wanted = name.encode()
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == wanted), None)


async def answer(
    send: Send,
    status: int,
    body: object,
    headers: dict[str, str] | None = None,
    content_type: str = "application/json",
) -> None:
    """One JSON document."""
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
    send: Send, status: int, detail: str, headers: dict[str, str] | None = None, **more: object
) -> None:
    """An RFC 9457 document."""
    body = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status,
            "detail": detail, **more}  # fmt: skip
    await answer(send, status, body, headers, PROBLEM)
