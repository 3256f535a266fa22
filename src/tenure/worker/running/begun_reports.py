"""Tells the store which jobs have begun: jobs claimed ahead, and suspects that run alone.

Most jobs need no such report: they are claimed for a free slot, or have ended before it is due.
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


class BegunReports:
    """Reports that a handler has begun. `in_thread` calls the store from a thread."""

    def __init__(self, jobs: JobStore, signals: Signals, in_thread: InThread) -> None:
        self._jobs = jobs
        self._signals = signals
        self._in_thread = in_thread
        self._tasks: set[asyncio.Task[None]] = set()

    def tell(self, runs: list[Run]) -> None:
        """These are at work, though they were claimed ahead."""
        now = time.monotonic()
        began = [(run.claimed.lease, run.begun) for run in runs if run.begun is not None]
        self._start(self._tell([Report(lease=one, begun_ago=now - at) for one, at in began]))

    async def announce(self, run: Run) -> bool:
        """Write that this suspect is about to begin alone; whether the store has taken it.

        The row must say so first: a worker that dies from then on convicts exactly this job.
        """
        report = Report(lease=run.claimed.lease, begun_ago=0.0, alone=True)
        try:
            return not await self._in_thread(self._jobs.report, [report])
        except Exception as error:
            self._signals.emit("worker.error", error=error, step="announce")
            return False

    def _start(self, report: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(report)
        self._tasks.add(task)  # the loop itself holds its tasks only weakly
        task.add_done_callback(self._tasks.discard)

    async def _tell(self, reports: list[Report]) -> None:
        """A refused report belongs to a job that has ended; a lost one is made good by its end."""
        with suppress(StoreUnavailable):
            await self._in_thread(self._jobs.report, reports)
