"""A worker that lives as long as an ASGI app, on its loop.

Where the framework has a lifespan of its own, `async with Worker(app): yield` in it is enough.
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
        """Lifespan events are ours, everything else is the app's."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        else:
            await self._inner(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
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
