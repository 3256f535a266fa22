"""A suspect in a worker that cannot start processes: it runs alone, with nothing beside it.

If the worker dies meanwhile, exactly this job is convicted, and no other is harmed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from tenure.worker.running.begun_reports import BegunReports
from tenure.worker.running.run import Run
from tenure.worker.running.slots import Slots


class LoneRun:
    """At most one `run` at a time. It begins when nothing else is at work, all endings are written
    and its row says that it is alone. Nothing else begins before it has ended.

    `start` lets lines go on; it is the method of the slot runner that makes this object.
    """

    def __init__(
        self,
        slots: Slots,
        begun: BegunReports,
        *,
        written_out: Callable[[], Awaitable[None]],
        give_back: Callable[[Run], None],
        start: Callable[[], None],
    ) -> None:
        self._slots = slots
        self._begun = begun
        self._written_out = written_out
        self._give_back = give_back
        self._start = start
        self._loop = asyncio.get_running_loop()
        self._slot_left = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._announced = False
        self.run: Run | None = None

    def admit(self, run: Run) -> bool:
        """Make it the next to begin; False if there is one already. What waits in line goes back,
        so that a crash does not find it here.
        """
        if self.run is not None:
            return False
        self.run, self._announced, run.alone = run, False, True
        run.waits_since = float("inf")  # it waits as long as it takes
        for line in self._slots.lines.values():
            while line.waiting:
                self._give_back(line.waiting.popleft())
        self._slots.lines[run.claimed.queue].waiting.append(run)
        # A task, not a call: the jobs that were claimed with it are given back first.
        self._task = self._loop.create_task(self._prepare(run))
        return True

    def may_begin(self, run: Run) -> bool:
        """Whether it is the turn of this run, while there is one that must be alone."""
        return run is self.run and self._announced and not self._slots.working

    def left(self, run: Run) -> None:
        """A run has left its slot or its line."""
        if run is self.run:
            self.run = None
            self._loop.call_soon(self._start)  # when its own ending is on its way
        self._slot_left.set()

    async def _prepare(self, run: Run) -> None:
        """Wait until it would be alone, say so in its row, then let it begin.

        It may be cancelled, lose its lease or expire while it waits: then it is not `self.run` any
        more after one of the waits.
        """
        while self._slots.working and self.run is run:
            self._slot_left.clear()
            await self._slot_left.wait()
        await self._written_out()
        if self.run is not run:
            return
        announced = await self._begun.announce(run)
        if self.run is not run:
            return
        if announced:
            self._announced = True
            self._start()
        else:
            self._slots.lines[run.claimed.queue].waiting.remove(run)
            self._give_back(run)
            self.left(run)
