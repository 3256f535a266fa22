"""Request bodies: JSON of a bounded size and depth. Anything else is refused before parsing."""

from __future__ import annotations

import re

from tenure.api.kit.errors import ApiError, BodyTooLarge, TooDeep, UnsupportedMedia
from tenure.api.kit.guards.streamed import StreamedRoutes, counted
from tenure.api.kit.problems import send_problem
from tenure.asgi.messages import Application, Message, Receive, Scope, Send, header

WRITES = ("POST", "PUT", "PATCH")
JSON = re.compile(r"application/(?:[\w.+-]+\+)?json\s*(?:;.*)?", re.IGNORECASE)
# Strings as a whole, so that brackets inside of them do not count. Possessive quantifiers: no body
# can make the expression backtrack.
TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"?+|[\[\]{}]', re.DOTALL)
OPENING = (b"[", b"{")


class BoundedBody:
    """Reads the body up to the limit and passes it on whole; 413 comes before the rest is read."""

    def __init__(
        self, inner: Application, *, limit: int, depth: int, streams: StreamedRoutes
    ) -> None:
        self._inner = inner
        self._limit = limit
        self._depth = depth
        self._streams = streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or not _has_body(scope):
            await self._inner(scope, receive, send)
            return
        try:
            streamed = self._streams.limit(scope)
            if streamed is not None:
                await self._inner(scope, counted(scope, receive, streamed), send)
                return
            _check_media(scope)
            body = await self._read(scope, receive)
            if _depth(body, self._depth) > self._depth:
                raise TooDeep(self._depth)
        except ApiError as error:
            await send_problem(scope, send, error)
        except _Gone:
            return
        else:
            await self._inner(scope, _again(body, receive), send)

    async def _read(self, scope: Scope, receive: Receive) -> bytes:
        length = header(scope, "content-length") or "0"
        # Refused by its header alone, before a byte is read. Cut to 19 digits: a longer number is
        # too large in any case, and converting it would cost time.
        if length.isdigit() and int(length[:19]) > self._limit:
            raise BodyTooLarge(self._limit)
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise _Gone
            body += message.get("body", b"")
            # A chunked body has no length in its header.
            if len(body) > self._limit:
                raise BodyTooLarge(self._limit)
            if not message.get("more_body", False):
                return bytes(body)


class _Gone(Exception):
    """The client has disconnected."""


def _has_body(scope: Scope) -> bool:
    length = header(scope, "content-length")
    return length not in (None, "0") or header(scope, "transfer-encoding") is not None


def _check_media(scope: Scope) -> None:
    given = header(scope, "content-type")
    if scope["method"] in WRITES and not JSON.fullmatch(given or ""):
        raise UnsupportedMedia(given)


def _depth(body: bytes, enough: int) -> int:
    """How deeply the body is nested. Most bodies have so few brackets that it need not be read."""
    # Counting bytes takes microseconds; walking the tokens is for suspicious bodies only.
    if body.count(b"[") + body.count(b"{") <= enough:
        return 0
    depth = deepest = 0
    for token in TOKEN.finditer(body):
        if token[0] in OPENING:
            depth += 1
            deepest = max(deepest, depth)
        elif not token[0].startswith(b'"'):
            depth -= 1
    return deepest


def _again(body: bytes, receive: Receive) -> Receive:
    """Receive the body in one piece, then further messages."""
    handed = False

    async def receiving() -> Message:
        nonlocal handed
        if handed:
            return await receive()
        handed = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receiving
