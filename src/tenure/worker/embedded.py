"""A worker beside other code: in a thread (`with Worker(app):`) or on a running loop
(`async with Worker(app):`).

`work(started)` is what it does: it calls `started` when jobs are taken.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any

from tenure.worker.event_loop import run_loop

Work = Callable[[Callable[[], None]], Awaitable[None]]


class WorkerThread:
    """Runs the worker on a loop in a thread of its own."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._ready = threading.Event()
        self._refused: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="tenure-worker", daemon=True)

    def start(self) -> None:
        """Return when it works; raise what kept it from starting."""
        self._thread.start()
        self._ready.wait()
        if self._refused is not None:
            raise self._refused

    def join(self) -> None:
        """Wait until it has stopped."""
        self._thread.join()

    def _run(self) -> None:
        async def main() -> None:
            await self._work(self._ready.set)

        try:
            run_loop(main)
        except Exception as error:
            if self._ready.is_set():
                raise
            self._refused = error
            self._ready.set()


class WorkerTask:
    """Runs the worker on a task of the running loop."""

    def __init__(self, work: Work) -> None:
        self._started = asyncio.Event()
        self._task: asyncio.Future[Any] = asyncio.ensure_future(work(self._started.set))

    async def start(self) -> None:
        """Return when it works; raise what kept it from starting."""
        started = asyncio.ensure_future(self._started.wait())
        try:
            await asyncio.wait({self._task, started}, return_when=asyncio.FIRST_COMPLETED)
        except BaseException:
            self._task.cancel()
            raise
        finally:
            started.cancel()
        if self._task.done():
            self._task.result()

    async def join(self) -> None:
        """Wait until it has stopped."""
        await self._task
