"""Runs that settled in a transaction of the user's own: did it commit?"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from tenure.core.errors import StoreUnavailable
from tenure.core.job import Job
from tenure.core.outcome import Ending
from tenure.core.signals import Signals
from tenure.stores.contract import JobStore
from tenure.worker.running.run import Run

LOOK_AGAIN_SECONDS = 0.5


class ForeignCommits:
    """Reads the rows of jobs that ended with `job.settle(tx=...)`."""

    def __init__(
        self, jobs: JobStore, signals: Signals, in_thread: Callable[..., Awaitable[Any]]
    ) -> None:
        self._jobs = jobs
        self._signals = signals
        self._in_thread = in_thread

    async def confirm(self, run: Run, ending: Ending | None) -> Ending | None:
        """None if the transaction has settled the job; else the run's own ending.

        The fence tells whether the row is still ours, the lease whether it is settled.
        """
        row = await self._look(run.claimed.id)
        ours = row is not None and row.fence == run.job.fence
        held = ours and row is not None and row.lease_until is not None
        if not ours:
            run.job.settlement = None
        return ending if held else None

    async def _look(self, job_id: str) -> Job | None:
        """The job's row, as soon as the database answers."""
        while True:
            try:
                row: Job | None = await self._in_thread(self._jobs.get, job_id)
            except StoreUnavailable as error:
                self._signals.emit("store.unavailable", error=error, step="look")
                await asyncio.sleep(LOOK_AGAIN_SECONDS)
            else:
                return row
