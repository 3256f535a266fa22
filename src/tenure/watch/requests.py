"""ASGI middleware: every request has a correlation id, which its answer names too."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from tenure.app import Tenure
from tenure.asgi.messages import Application, Message, Receive, Scope, Send, problem
from tenure.core.origin import is_correlation_id, is_traceparent
from tenure.watch.correlation import HEADER, TRACEPARENT, correlated

Named = list[tuple[bytes, bytes]]


class Correlated:
    """Around an app: `Correlated(api, jobs)`, or `api.add_middleware(Correlated, jobs=jobs)`.

    The id is `scope["state"]["correlation_id"]` where somebody has put one there, else it is taken
    from `x-correlation-id`, or made. Jobs that the request enqueues carry it. One that could break
    a header or a log line is refused.
    """

    def __init__(self, app: Application, jobs: Tenure | None = None) -> None:
        self._inner = app
        self._jobs = jobs

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] not in ("http", "websocket"):
            await self._inner(scope, receive, send)
            return
        known = scope.setdefault("state", {}).get("correlation_id")
        given, traces = [known] if known else _values(scope, HEADER), _values(scope, TRACEPARENT)
        trace = traces[0] if len(traces) == 1 and is_traceparent(traces[0]) else None
        wrong = len(set(given)) > 1 or not all(map(is_correlation_id, given))
        with correlated(None if wrong or not given else given[0], trace) as name:
            scope["state"]["correlation_id"] = name
            inner = _refuse if wrong else self._inner
            with self._span(scope, trace, name) as noted:
                await inner(scope, receive, _naming(send, name, noted))

    def _span(self, scope: Scope, trace: str | None, name: str) -> AbstractContextManager[Any]:
        """A span of the request, where the app has traces."""
        request = getattr(None if self._jobs is None else self._jobs.tracing, "request", None)
        found: AbstractContextManager[Any] = (
            nullcontext() if request is None else request(scope, trace, name)
        )
        return found


def _naming(send: Send, name: str, noted: Any) -> Send:
    async def named(message: Message) -> None:
        if message["type"] == "http.response.start":
            others = [
                one for one in message.get("headers", ()) if one[0].lower() != HEADER.encode()
            ]
            message["headers"] = [*others, (HEADER.encode(), name.encode())]
            if noted is not None:
                noted(message["status"])
        await send(message)

    return named


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    detail = f"{HEADER} takes 1 to 200 visible ASCII characters without spaces, and is given once"
    await problem(scope, send, 400, detail, code="invalid-correlation-id")


def _values(scope: Scope, name: str) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name.encode()]
