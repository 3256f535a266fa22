"""Routes that read their body as it comes: they say so, and how many bytes they take.

Every other route gets a body that was read whole, is JSON, and is small; see `bodies`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from starlette.routing import Match, Route

from tenure.api.kit.errors import BodyTooLarge
from tenure.asgi.messages import Message, Receive, Scope, header
from tenure.feature.ask import public_routers_of, routers_of

if TYPE_CHECKING:
    from tenure.app import Tenure

F = TypeVar("F", bound=Callable[..., Any])
MARK = "_tenure_streamed"


def streamed(limit: Callable[[Tenure], int]) -> Callable[[F], F]:
    """Mark a route: its body is not read before it runs, and has at most `limit(app)` bytes."""

    def mark(function: F) -> F:
        setattr(function, MARK, limit)
        return function

    return mark


class StreamedRoute(NamedTuple):
    """A marked route and its limit."""

    route: Route
    limit: int


class StreamedRoutes:
    """Finds the marked route of a request, among those of the app's features."""

    def __init__(self, app: Tenure) -> None:
        self._app = app
        self._found: list[StreamedRoute] | None = None

    def limit(self, scope: Scope) -> int | None:
        """How many bytes the route takes; None where it takes a JSON body."""
        if self._found is None:
            self._found = [
                StreamedRoute(route, getattr(route.endpoint, MARK)(self._app))
                for feature in self._app.features
                for router in (*routers_of(feature), *public_routers_of(feature))
                for route in router.routes
                if hasattr(getattr(route, "endpoint", None), MARK)
            ]
        for one in self._found:
            if one.route.matches(scope)[0] is Match.FULL:
                return one.limit
        return None


def counted(scope: Scope, receive: Receive, limit: int) -> Receive:
    """The body as it comes; BodyTooLarge as soon as it is known to be too large."""
    length = header(scope, "content-length") or "0"
    if length.isdigit() and int(length[:19]) > limit:
        raise BodyTooLarge(limit)
    received = 0

    async def receiving() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > limit:
            raise BodyTooLarge(limit)
        return message

    return receiving
