"""Slots at work: runs leave their queue's line for a free slot.

An async handler runs on the task of its slot, which takes the next run when it is done. Handlers
that never wait are run one after the other: a task for each would cost more than they do.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection
from contextvars import copy_context

from tenure.core.outcome import Done, Ending, Released, Returned
from tenure.core.signals import Signals
from tenure.worker.running.begun_reports import BegunReports
from tenure.worker.running.ending import LOST
from tenure.worker.running.lone_run import LoneRun
from tenure.worker.running.run import Run
from tenure.worker.running.slots import QueueLine, Slots
from tenure.worker.running.starters import Starters
from tenure.worker.running.timeouts import Timeouts
from tenure.worker.settling.finish import Finisher

# Two tasks at a time start on a line: the first may have done everything before a third is needed.
COMING_AT_ONCE = 2
# A slot lets the loop breathe this often, so that heartbeats and timers are not starved.
SLICE_SECONDS = 0.0005


class SlotRunner:
    """Starts runs, frees their slots, and hands each ending to the finisher."""

    def __init__(
        self,
        slots: Slots,
        signals: Signals,
        starters: Starters,
        begun: BegunReports,
        finisher: Finisher,
        written_out: Callable[[], Awaitable[None]],
    ) -> None:
        self._slots = slots
        self._signals = signals
        self._starter_of = starters.starter_of
        self._finisher = finisher
        self._finish = finisher.finish
        self._counts = finisher.counts
        self._loop = asyncio.get_running_loop()
        self._clean = copy_context()
        self._working = slots.working
        self._timeouts = Timeouts(slots, give_back=finisher.give_back, begun=begun.tell)
        self._confirming: set[asyncio.Task[None]] = set()
        self.lone = LoneRun(
            slots,
            begun,
            written_out=written_out,
            give_back=finisher.give_back,
            start=self._go_on_everywhere,
        )
        self.stopping = False

    def go_on(self, line: QueueLine) -> None:
        """Start what waits in line, as far as there are free slots."""
        if line.going_on:  # a run has ended as it was started: the loop below takes the next
            return
        line.going_on = True
        try:
            while (run := self._next(line)) is not None:
                start = self._starter_of(run)
                if start is None:
                    line.waiting.appendleft(run)
                    self._call_slots(line)
                    break
                self._enter(line, run)
                run.elsewhere(start, self._ended_elsewhere)
        finally:
            line.going_on = False

    def return_held(self, gates: Collection[str]) -> None:
        """These kinds and keys are held: what was claimed ahead of them goes back."""
        for line in self._slots.lines.values():
            for run in line.take_held(gates):
                self._finisher.give_back(run)

    def abandon(self, run: Run) -> None:
        """Give up on a handler that cannot be stopped: its job goes back to the queue."""
        self._leave(run)
        self._finish(run, Released())

    def _go_on_everywhere(self) -> None:
        for line in self._slots.lines.values():
            self.go_on(line)

    def _call_slots(self, line: QueueLine) -> None:
        """Tasks for free slots, which start as soon as the loop turns."""
        wanted = min(COMING_AT_ONCE, len(line.waiting), line.size - line.busy)
        while line.coming < wanted:
            line.coming += 1
            # A fresh context: what one handler sets must not reach the next.
            self._loop.create_task(self._serve(line), context=self._clean.copy())

    async def _serve(self, line: QueueLine) -> None:
        """One slot: run after run, until its task is not as good as new any more."""
        line.coming -= 1
        task, since = asyncio.current_task(), time.monotonic()
        if task is None:
            raise AssertionError("a coroutine runs on a task")
        while (run := self._next(line)) is not None:
            if self._starter_of(run) is not None:
                line.waiting.appendleft(run)
                break
            self._enter(line, run)
            if line.waiting and not line.coming:
                self._call_slots(line)
            self._end(run, await run.here(task))
            if task.cancelling() or copy_context() != self._clean:
                break
            if time.monotonic() - since > SLICE_SECONDS:
                await asyncio.sleep(0)
                since = time.monotonic()
        self.go_on(line)

    def _next(self, line: QueueLine) -> Run | None:
        """The next in line if there is a slot. Runs that were told to stop while they waited, or
        expired, never begin.
        """
        while line.waiting and line.busy < line.size and not self.stopping:
            run = line.waiting[0]
            may_begin = run.job.stop_reason is None and not run.expired
            if may_begin and self.lone.run is not None and not self.lone.may_begin(run):
                return None
            line.waiting.popleft()
            if may_begin:
                return run
            self.lone.left(run)
            self._finish(run, None if run.job.stop_reason == LOST else Returned())
        return None

    def _enter(self, line: QueueLine, run: Run) -> None:
        line.busy += 1
        self._working.add(run)
        self._timeouts.watch()
        if self._signals.heard("job.started"):
            claimed = run.claimed
            self._signals.emit(
                "job.started", id=claimed.id, kind=claimed.kind, attempt=claimed.attempt
            )

    def _leave(self, run: Run) -> None:
        """Free the slot."""
        self._working.discard(run)
        line = self._slots.lines[run.claimed.queue]
        line.busy -= 1
        if run.begun is not None:
            run.seconds = time.monotonic() - run.begun
            line.took(run.seconds)
        if self.lone.run is not None:
            self.lone.left(run)

    def _end(self, run: Run, ending: Ending | None) -> None:
        if run.ended:  # a thread that was abandoned has ended after all
            return
        if run.job.joined or (ending.__class__ is not Done and self._counts.needed(run, ending)):
            task = self._loop.create_task(self._end_later(run, ending))
            self._confirming.add(task)  # the loop itself holds its tasks only weakly
            task.add_done_callback(self._confirming.discard)
            return
        self._leave(run)
        self._finish(run, ending)

    async def _end_later(self, run: Run, ending: Ending | None) -> None:
        """The slot is kept until we know how the user's transaction ended, and how often the job
        failed before.
        """
        if run.job.joined:
            ending = await self._finisher.confirm(run, ending)
        counts = await self._counts.of(run, ending)
        if not run.ended:
            self._leave(run)
            self._finish(run, ending, counts)
            self.go_on(self._slots.lines[run.claimed.queue])

    def _ended_elsewhere(self, run: Run, ending: Ending | None) -> None:
        self._end(run, ending)
        self.go_on(self._slots.lines[run.claimed.queue])
