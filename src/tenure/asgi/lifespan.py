"""A worker on the event loop of an ASGI app, started and stopped with it.

If your framework has a lifespan hook, `async with Worker(app): yield` in it is all you need.
"""

from __future__ import annotations

from collections.abc import Callable

from tenure.asgi.messages import Application, Receive, Scope, Send
from tenure.worker import Worker


class WithWorker:
    """Wraps an app without a lifespan of its own: `WithWorker(app, lambda: Worker(jobs))`."""

    def __init__(self, inner: Application, worker: Callable[[], Worker]) -> None:
        self._inner = inner
        self._worker = worker

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle lifespan events; pass everything else to the app."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        else:
            await self._inner(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        # The startup message.
        await receive()
        try:
            worker = await self._worker().__aenter__()
        except Exception as error:
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            return
        await send({"type": "lifespan.startup.complete"})
        await receive()
        try:
            await worker.__aexit__()
        except Exception as error:
            await send({"type": "lifespan.shutdown.failed", "message": str(error)})
        else:
            await send({"type": "lifespan.shutdown.complete"})
