"""Ends the work of a pipeline: nothing new begins, what runs may finish, the rest goes back."""

from __future__ import annotations

import asyncio
import time

from tenure.worker.changes import Changes
from tenure.worker.running.ending import SHUTDOWN
from tenure.worker.running.slot_runner import SlotRunner
from tenure.worker.running.slots import Slots
from tenure.worker.settling.finish import Finisher
from tenure.worker.settling.settler import Settler

# What is interrupted gets this long to end. Tasks need it; threads may not notice at all.
STOP_GRACE = 1.0
SHORTEST_FLUSH_SECONDS = 5.0


class Shutdown:
    """Gives up nothing silently: each run is settled, or its job goes back to the queue."""

    def __init__(
        self,
        slots: Slots,
        runner: SlotRunner,
        finisher: Finisher,
        settler: Settler,
        changes: Changes,
    ) -> None:
        self._slots = slots
        self._runner = runner
        self._finisher = finisher
        self._settler = settler
        self._changes = changes

    async def drain(self, seconds: float, hurry: asyncio.Event, lease_seconds: float) -> None:
        """Wait this long for what runs, but not if told to hurry; then give the rest back."""
        self._runner.stopping = True
        for line in self._slots.lines.values():
            while line.waiting:
                self._finisher.give_back(line.waiting.popleft())
        hurried = asyncio.ensure_future(self._tell_when(hurry))
        await self._wait_for_runs(seconds, hurry)
        hurried.cancel()
        for run in list(self._slots.working):
            run.interrupt(SHUTDOWN)
        await self._wait_for_runs(STOP_GRACE)
        for run in list(self._slots.working):  # threads that do not end: the process will end them
            self._runner.abandon(run)
        # Not for ever: jobs that cannot be settled now go to others when their leases run out.
        await self._settler.flush(max(SHORTEST_FLUSH_SECONDS, lease_seconds / 2))

    async def _wait_for_runs(self, seconds: float, hurry: asyncio.Event | None = None) -> None:
        deadline = time.monotonic() + seconds
        while self._slots.working and (left := deadline - time.monotonic()) > 0:
            if hurry is not None and hurry.is_set():
                return
            self._changes.clear()
            await self._changes.wait(left)

    async def _tell_when(self, hurry: asyncio.Event) -> None:
        await hurry.wait()
        self._changes.tell()
