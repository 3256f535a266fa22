"""Earlier failures of a job by class, read only where a decision depends on them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from tenure.core.errors import StoreUnavailable
from tenure.core.outcome import Done, Ending
from tenure.core.rules.by_class import NO_COUNTS, Counts, needs_counts
from tenure.core.rules.run_again import MAX_SNOOZES
from tenure.core.signals import Signals
from tenure.stores.contract import JobStore
from tenure.worker.running.run import Run

LOOK_AGAIN_SECONDS = 0.5


class ClassCounts:
    """Reads the history of jobs whose class of failure has a bound of its own."""

    def __init__(
        self, jobs: JobStore, signals: Signals, in_thread: Callable[..., Awaitable[Any]]
    ) -> None:
        self._jobs = jobs
        self._signals = signals
        self._in_thread = in_thread

    def needed(self, run: Run, ending: Ending | None) -> bool:
        """Whether history decides what follows."""
        if ending is None or isinstance(ending, Done):
            return False
        return needs_counts(run.claimed, ending, run.handler.options.retry, MAX_SNOOZES)

    async def of(self, run: Run, ending: Ending | None) -> Counts:
        """The counts of this job, as soon as the database answers."""
        while self.needed(run, ending) and not run.ended:
            try:
                counts: Counts = await self._in_thread(
                    self._jobs.failure_counts, run.claimed.lease.job_id
                )
            except StoreUnavailable as error:
                self._signals.emit("store.unavailable", error=error, step="look")
                await asyncio.sleep(LOOK_AGAIN_SECONDS)
            else:
                return counts
        return NO_COUNTS
