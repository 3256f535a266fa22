"""Tells the store which jobs have begun: those claimed ahead, and suspects that run alone.

Most jobs need no such word: they were claimed for a free slot, or have ended before it is due.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any

from tenure.core.errors import StoreUnavailable
from tenure.core.signals import Signals
from tenure.stores.contract import JobStore, Report
from tenure.worker.running.run import Run

InThread = Callable[..., Awaitable[Any]]
Announced = Callable[[Run, bool], None]


class Beginnings:
    """`announced(run, refused)` is called on the loop when a suspect's row says that it is alone,
    or could not be made to.
    """

    def __init__(
        self, jobs: JobStore, signals: Signals, in_thread: InThread, announced: Announced
    ) -> None:
        self._jobs = jobs
        self._signals = signals
        self._in_thread = in_thread
        self._announced = announced
        self._tasks: set[asyncio.Task[None]] = set()

    def tell(self, runs: list[Run]) -> None:
        """These are at work, though they were claimed ahead."""
        now = time.monotonic()
        began = [(run.claimed.lease, run.begun) for run in runs if run.begun is not None]
        self._start(self._tell([Report(lease=one, begun_ago=now - at) for one, at in began]))

    def announce(self, run: Run) -> None:
        """This suspect is about to begin, with nothing beside it."""
        self._start(self._announce(run))

    def _start(self, step: Coroutine[Any, Any, None]) -> None:
        """A loop keeps no hold of its tasks; we do."""
        task = asyncio.get_running_loop().create_task(step)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _tell(self, reports: list[Report]) -> None:
        """What is refused has ended meanwhile; what cannot be written, its end will tell."""
        with suppress(StoreUnavailable):
            await self._in_thread(self._jobs.report, reports)

    async def _announce(self, run: Run) -> None:
        report = Report(lease=run.claimed.lease, begun_ago=0.0, alone=True)
        try:
            refused = bool(await self._in_thread(self._jobs.report, [report]))
        except Exception as error:
            self._signals.emit("worker.error", error=error, step="announce")
            refused = True
        self._announced(run, refused)
