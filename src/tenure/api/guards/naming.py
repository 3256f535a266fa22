"""A request id and a correlation id for every request, and headers that make browsers careful."""

from __future__ import annotations

import re
import secrets

from tenure.api.errors import InvalidCorrelationId
from tenure.api.problems import send_problem
from tenure.asgi.messages import Application, Message, Receive, Scope, Send, header
from tenure.options import LENGTHS

CORRELATION = "x-correlation-id"
REQUEST = "x-request-id"
LONGEST = LENGTHS["correlation_id"]
VISIBLE = re.compile(rf"[!-~]{{1,{LONGEST}}}")
CAREFUL = {
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-resource-policy": b"same-origin",
    b"content-security-policy": b"default-src 'none'; frame-ancestors 'none'",
    b"cache-control": b"no-store",
}


class Named:
    """Notes `request_id` and `correlation_id` in the request's state, and answers with both.

    The request id is always ours. A correlation id is the client's where it is a plain word:
    anything else is refused, so that it can forge neither a header nor a log line.
    """

    def __init__(self, inner: Application) -> None:
        self._inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        request_id, given = secrets.token_hex(8), header(scope, CORRELATION)
        fine = given is None or VISIBLE.fullmatch(given) is not None
        correlation_id = given if given is not None and fine else request_id
        scope["state"] = {
            **scope.get("state", {}),
            "request_id": request_id,
            "correlation_id": correlation_id,
        }
        named = _with_headers(
            send,
            {**CAREFUL, REQUEST.encode(): request_id.encode(),
             CORRELATION.encode(): correlation_id.encode()},
        )  # fmt: skip
        if fine:
            await self._inner(scope, receive, named)
        else:
            await send_problem(scope, named, InvalidCorrelationId(LONGEST))


def _with_headers(send: Send, more: dict[bytes, bytes]) -> Send:
    """A route's own word about a header stays."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            said = list(message.get("headers", ()))
            names = {name.lower() for name, _ in said}
            said += [(name, value) for name, value in more.items() if name not in names]
            message = {**message, "headers": said}
        await send(message)

    return sending
