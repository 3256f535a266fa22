"""Slots at work: jobs leave their queue's line for a free slot.

An async handler runs on the task of its slot, which takes the next job when it is done: handlers
that never wait are run one after the other, a task for each would cost more than they do.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from contextvars import copy_context

from tenure.core.outcome import Ending, Released
from tenure.core.signals import Signals
from tenure.handlers import RunsIn
from tenure.worker.overtime import Overtime
from tenure.worker.run import LOST, Place, Run
from tenure.worker.slots import Lane, Slots

COMING_AT_ONCE = 2
SLICE_SECONDS = 0.0005


class Serving:
    """`ended(run, ending)` is called on the loop for every job that leaves its slot or its line."""

    def __init__(
        self,
        slots: Slots,
        signals: Signals,
        places: Mapping[RunsIn, Place],
        ended: Callable[[Run, Ending | None], None],
    ) -> None:
        self._slots = slots
        self._signals = signals
        self._places = places
        self._ended = ended
        self._loop = asyncio.get_running_loop()
        self._clean = copy_context()
        self.working: set[Run] = set()
        self._overtime = Overtime(self.working)
        self.stopping = False

    def go_on(self, lane: Lane) -> None:
        """Start what waits, as far as there are free slots."""
        while (current := self._next(lane)) is not None:
            if current.handler.on_loop:
                lane.waiting.appendleft(current)
                self._call(lane)
                return
            self._enter(lane, current)
            current.elsewhere(self._places[current.handler.options.runs_in], self._left_elsewhere)

    def leave(self, current: Run) -> None:
        """The slot is free again."""
        if current not in self.working:
            return
        self.working.discard(current)
        lane = self._slots.lanes[current.claimed.queue]
        lane.busy -= 1
        if current.begun is not None:
            current.seconds = time.monotonic() - current.begun
            lane.took(current.seconds)

    def _call(self, lane: Lane) -> None:
        """Slots to come as soon as the loop turns; the first may have done it all by then."""
        wanted = min(COMING_AT_ONCE, len(lane.waiting), lane.size - lane.busy)
        while lane.coming < wanted:
            lane.coming += 1
            self._loop.create_task(self._serve(lane), context=self._clean.copy())

    async def _serve(self, lane: Lane) -> None:
        """One slot: job after job, while its task is as good as new."""
        lane.coming -= 1
        task, since = asyncio.current_task(), time.monotonic()
        if task is None:
            raise AssertionError("a coroutine runs on a task")
        while (current := self._next(lane)) is not None:
            if not current.handler.on_loop:
                lane.waiting.appendleft(current)
                break
            self._enter(lane, current)
            if lane.waiting and not lane.coming:
                self._call(lane)
            self._ended(current, await current.here(task))
            if task.cancelling() or copy_context() != self._clean:
                break
            if time.monotonic() - since > SLICE_SECONDS:
                await asyncio.sleep(0)
                since = time.monotonic()
        self.go_on(lane)

    def _next(self, lane: Lane) -> Run | None:
        """The next in line, where there is a slot; those told to stop meanwhile never start."""
        while lane.waiting and lane.busy < lane.size and not self.stopping:
            current = lane.waiting.popleft()
            if current.job.stop_reason is None:
                return current
            self._ended(current, None if current.job.stop_reason == LOST else Released())
        return None

    def _enter(self, lane: Lane, current: Run) -> None:
        lane.busy += 1
        self.working.add(current)
        self._overtime.watch()
        if self._signals.heard("job.started"):
            claimed = current.claimed
            self._signals.emit(
                "job.started", id=claimed.id, kind=claimed.kind, attempt=claimed.attempt
            )

    def _left_elsewhere(self, current: Run, ending: Ending | None) -> None:
        self._ended(current, ending)
        self.go_on(self._slots.lanes[current.claimed.queue])
