"""Unexpected errors: a problem without details for the client, a signal for the log."""

from __future__ import annotations

from tenure.asgi.messages import Application, Message, Receive, Scope, Send, note, problem
from tenure.core.signals import Signals

FAILED = "api.failed"


class UnexpectedErrors:
    """Answers 500 and emits `api.failed`. If nobody listens to it, the error goes to the server's
    log, and the client loses its connection.
    """

    def __init__(self, inner: Application, signals: Signals) -> None:
        self._inner = inner
        self._signals = signals

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        begun = False

        async def sending(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._inner(scope, receive, sending)
        except Exception as error:
            # After the first byte the status cannot be changed any more.
            if not begun:
                detail = "an unexpected error occurred; look for the request id in the log"
                await problem(scope, send, 500, detail)
            if begun or not self._signals.heard(FAILED):
                raise
            self._signals.emit(
                FAILED,
                error=error,
                method=scope["method"],
                path=scope["path"],
                request_id=note(scope, "request_id"),
                correlation_id=note(scope, "correlation_id"),
            )
