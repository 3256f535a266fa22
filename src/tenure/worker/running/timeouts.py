"""Looks at all jobs here twenty times a second, which is cheaper than a timer for each.

Handlers past their limit are interrupted. Jobs that were claimed ahead are reported as begun, and
those that still wait for a slot are given back, so that another worker can take them.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable

from tenure.worker.running.run import Run
from tenure.worker.running.slots import Slots

LOOK_EVERY = 0.05
# Most handlers that were claimed ahead end sooner than this and need no report at all.
BEGUN_SECONDS = 0.05
RESERVED_SECONDS = 0.1
STUCK_SECONDS = 0.1


class Timeouts:
    """Looks while something is at work. `give_back(run)` is called for jobs that waited too long,
    `begun(runs)` for jobs whose rows still say that they wait. Lives on the event loop.
    """

    def __init__(
        self,
        slots: Slots,
        *,
        give_back: Callable[[Run], None],
        begun: Callable[[list[Run]], None],
    ) -> None:
        self._working = slots.working
        self._lines = slots.lines
        self._give_back = give_back
        self._begun = begun
        self._loop = asyncio.get_running_loop()
        self._next_look: asyncio.TimerHandle | None = None

    def watch(self) -> None:
        """Something has begun."""
        if self._next_look is None:
            self._next_look = self._loop.call_later(LOOK_EVERY, self._look)

    def _look(self) -> None:
        now = time.monotonic()
        stuck = self._look_at_work(now)
        for queue, line in self._lines.items():
            line.stuck = stuck[queue]
            for late in line.take_late(now - RESERVED_SECONDS):
                self._give_back(late)
        self._next_look = None
        if self._working:
            self.watch()

    def _look_at_work(self, now: float) -> Counter[str]:
        """How many slots of each queue are taken by slow handlers."""
        stuck: Counter[str] = Counter()
        begun: list[Run] = []
        for run in list(self._working):  # an interrupted one may leave at once
            run.check_time(now)
            age = 0.0 if run.begun is None else now - run.begun
            if age > STUCK_SECONDS:
                stuck[run.claimed.queue] += 1
            if run.reserved and age > BEGUN_SECONDS:
                run.reserved = False
                begun.append(run)
        if begun:
            self._begun(begun)
        return stuck
