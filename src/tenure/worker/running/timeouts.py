"""Twenty times a second, a look at all jobs here: cheaper than a timer for each.

Handlers past their limit are interrupted, jobs that were claimed ahead are told to have begun, and
those that still wait for a slot are given back, so that another worker can take them.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping

from tenure.worker.running.run import Run
from tenure.worker.running.slots import Lane

LOOK_EVERY = 0.05
BEGUN_SECONDS = 0.05
RESERVED_SECONDS = 0.1
STUCK_SECONDS = 0.1


class Rounds:
    """Looks while something is at work. `give_back(run)` is for jobs that waited too long, and
    `begun(runs)` for those whose rows still say that they wait. Lives on the event loop.
    """

    def __init__(
        self,
        working: Collection[Run],
        lanes: Mapping[str, Lane],
        *,
        give_back: Callable[[Run], None],
        begun: Callable[[list[Run]], None],
    ) -> None:
        self._working = working
        self._lanes = lanes
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
        for queue, lane in self._lanes.items():
            lane.stuck = stuck[queue]
            for late in lane.take_late(now - RESERVED_SECONDS):
                self._give_back(late)
        self._next_look = None
        if self._working:
            self.watch()

    def _look_at_work(self, now: float) -> Counter[str]:
        """How many slots of each queue are kept by slow handlers."""
        stuck: Counter[str] = Counter()
        begun: list[Run] = []
        for current in list(self._working):
            current.check_time(now)
            age = 0.0 if current.begun is None else now - current.begun
            if age > STUCK_SECONDS:
                stuck[current.claimed.queue] += 1
            if current.reserved and age > BEGUN_SECONDS:
                current.reserved = False
                begun.append(current)
        if begun:
            self._begun(begun)
        return stuck
