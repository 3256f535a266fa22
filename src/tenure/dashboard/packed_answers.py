"""Packs large answers of the API: charts and lists are a tenth as long on the wire."""

from __future__ import annotations

from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

# Below this a packed answer saves no packet, and packing would slow down requests for single jobs.
LEAST_BYTES = 8_192
# The fastest level: charts shrink to a tenth with any.
LEVEL = 1


# No answer with a token (packing could give it away), no stream, no file of a user.
LISTS = frozenset(
    ["/api/stats", "/api/jobs", "/api/errors", "/api/kinds", "/api/audit", "/api/outbox"]
)


class PackedAnswers:
    """For the lists and charts of screens alone."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._packed = GZipMiddleware(app, minimum_size=LEAST_BYTES, compresslevel=LEVEL)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        wanted = scope["type"] == "http" and scope["path"] in LISTS
        await (self._packed if wanted else self._app)(scope, receive, send)
