"""A request id for every request, and security headers."""

from __future__ import annotations

import secrets

from tenure.asgi.messages import Application, Message, Receive, Scope, Send

REQUEST = b"x-request-id"
# For an API: nothing may be framed, sniffed or cached. The page sets its own policy.
CAREFUL = {
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-resource-policy": b"same-origin",
    b"content-security-policy": b"default-src 'none'; frame-ancestors 'none'",
    b"cache-control": b"no-store",
}


class RequestIds:
    """Stores `request_id` in the request's state and sends it back. It is always ours: an id of the
    client is the correlation id.
    """

    def __init__(self, inner: Application) -> None:
        self._inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        request_id = secrets.token_hex(8)
        scope["state"] = {**scope.get("state", {}), "request_id": request_id}
        more = {**CAREFUL, REQUEST: request_id.encode()}

        async def sending(message: Message) -> None:
            await send(_with_headers(message, more))

        await self._inner(scope, receive, sending)


def _with_headers(message: Message, more: dict[bytes, bytes]) -> Message:
    """Headers that the route has set are kept."""
    if message["type"] != "http.response.start":
        return message
    said = list(message.get("headers", ()))
    names = {name.lower() for name, _ in said}
    return {**message, "headers": [*said, *(one for one in more.items() if one[0] not in names)]}
