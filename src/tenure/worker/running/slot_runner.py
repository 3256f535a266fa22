"""Slots at work: jobs leave their queue's line for a free slot.

An async handler runs on the task of its slot, which takes the next job when it is done: handlers
that never wait are run one after the other, a task for each would cost more than they do.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from contextvars import copy_context

from tenure.core.outcome import Ending, Returned
from tenure.core.signals import Signals
from tenure.jobs.handler_options import RunsIn
from tenure.worker.running.begun_reports import Beginnings
from tenure.worker.running.run import LOST, Place, Run
from tenure.worker.running.slots import Lane, Slots
from tenure.worker.running.timeouts import Rounds

COMING_AT_ONCE = 2
SLICE_SECONDS = 0.0005


class Serving:
    """`ended(run, ending)` is called on the loop for every job that leaves its slot or its line.

    While there is a job that must run `alone`, it begins when nothing else is at work and the store
    knows of it, and nothing else begins before it has ended.
    """

    def __init__(
        self,
        slots: Slots,
        signals: Signals,
        places: Mapping[RunsIn, Place],
        beginnings: Beginnings,
        ended: Callable[[Run, Ending | None], None],
        written: Callable[[], bool],
    ) -> None:
        self._slots = slots
        self._signals = signals
        self._places = places
        self._ended = ended
        self._written = written
        self._loop = asyncio.get_running_loop()
        self._clean = copy_context()
        self.working: set[Run] = set()
        self._rounds = Rounds(
            self.working,
            slots.lanes,
            give_back=lambda run: ended(run, Returned()),
            begun=beginnings.tell,
        )
        self._announce = beginnings.announce
        self.alone: Run | None = None
        self._announcing = self._announced = False
        self.apart: Place | None = None
        self.stopping = False

    def go_on(self, lane: Lane) -> None:
        """Start what waits, as far as there are free slots."""
        while (current := self._next(lane)) is not None:
            place = self._place(current)
            if place is None:
                lane.waiting.appendleft(current)
                self._call(lane)
                return
            self._enter(lane, current)
            current.elsewhere(place, self._left_elsewhere)

    def run_alone(self, current: Run) -> bool:
        """Let it be the next to begin, when nothing else is at work; one at a time. What is in line
        goes back: a death is not to find it here.
        """
        if self.alone is not None:
            return False
        self.alone = current
        self._announcing = self._announced = False
        current.waits_since = float("inf")
        for lane in self._slots.lanes.values():
            while lane.waiting:
                self._ended(lane.waiting.popleft(), Returned())
        self._slots.lanes[current.claimed.queue].waiting.append(current)
        self._loop.call_soon(self.prepare_alone)  # after what came with it has gone back
        return True

    def announced(self) -> None:
        """The store knows that it runs alone: a death from now on is its own doing."""
        self._announced = True
        self._go_on_everywhere()

    def prepare_alone(self) -> None:
        """Where nothing is at work and all endings are written, let the store know."""
        if self.alone is not None and not self._announcing and not self.working and self._written():
            self._announcing = True
            self._announce(self.alone)

    def leave(self, current: Run) -> None:
        """The slot is free again."""
        if current is self.alone:
            self.alone = None
            self._loop.call_soon(self._go_on_everywhere)
        if current not in self.working:
            return
        self.working.discard(current)
        lane = self._slots.lanes[current.claimed.queue]
        lane.busy -= 1
        if current.begun is not None:
            current.seconds = time.monotonic() - current.begun
            lane.took(current.seconds)
        if self.alone is not None:
            self._loop.call_soon(self.prepare_alone)  # its own ending is still to be written

    def _go_on_everywhere(self) -> None:
        for lane in self._slots.lanes.values():
            self.go_on(lane)

    def _place(self, current: Run) -> Place | None:
        """Where it runs: a thread, a process, or None on a task of the loop."""
        if self.apart is not None and current.suspect and current is not self.alone:
            return self.apart
        handler = current.handler
        return None if handler.on_loop else self._places.get(handler.options.runs_in)

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
            if self._place(current) is not None:
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
        """The next in line, where there is a slot; those told to stop meanwhile, or expired, never
        begin.
        """
        while lane.waiting and lane.busy < lane.size and not self.stopping:
            current = lane.waiting[0]
            may_begin = current.job.stop_reason is None and not current.expired
            if may_begin and self.alone is not None and not self._its_turn(current):
                return None
            lane.waiting.popleft()
            if may_begin:
                return current
            self._ended(current, None if current.job.stop_reason == LOST else Returned())
        return None

    def _its_turn(self, current: Run) -> bool:
        """While there is one that must run alone."""
        return current is self.alone and self._announced and not self.working

    def _enter(self, lane: Lane, current: Run) -> None:
        lane.busy += 1
        self.working.add(current)
        self._rounds.watch()
        if self._signals.heard("job.started"):
            claimed = current.claimed
            self._signals.emit(
                "job.started", id=claimed.id, kind=claimed.kind, attempt=claimed.attempt
            )

    def _left_elsewhere(self, current: Run, ending: Ending | None) -> None:
        self._ended(current, ending)
        self.go_on(self._slots.lanes[current.claimed.queue])
