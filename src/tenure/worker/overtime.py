"""Handlers that run past their limit: one look at all of them is cheaper than a timer for each."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection

from tenure.worker.run import Run

LOOK_EVERY = 0.05


class Overtime:
    """Looks while something is at work. Lives on the event loop."""

    def __init__(self, working: Collection[Run]) -> None:
        self._working = working
        self._loop = asyncio.get_running_loop()
        self._next_look: asyncio.TimerHandle | None = None

    def watch(self) -> None:
        """Something has begun."""
        if self._next_look is None:
            self._next_look = self._loop.call_later(LOOK_EVERY, self._look)

    def _look(self) -> None:
        now = time.monotonic()
        for current in list(self._working):
            current.check_time(now)
        self._next_look = None
        if self._working:
            self.watch()
