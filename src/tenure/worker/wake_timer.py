"""When a worker gets up: at once for the first wake-up, spaced under a flood of empty ones."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Collection
from contextlib import suppress

from tenure.wakeups.due_jobs import EVERY_QUEUE

FREE = 3
SPACING_SECONDS = 0.04
SHARE = 20
LONGEST_SECONDS = 1.0


class Alarm:
    """Collects the wake-ups for one worker's queues and rings.

    After a few looks in a row that brought nothing it rings only every 40 ms, or twenty times as
    long as such a look takes, until one brings something.
    """

    def __init__(self, queues: Collection[str], ring: Callable[[], None]) -> None:
        self._queues = frozenset(queues)
        self._ring = ring
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._names: set[str] = set()
        self._in_vain = 0
        self._deaf_until = 0.0
        self._asked = False
        self._taken_at = 0.0
        self._later: asyncio.TimerHandle | None = None
        self.listening: set[object] = set()

    def heard(self, queues: Collection[str]) -> None:
        """These may have got due jobs. Any thread may call it."""
        ours = self._queues if EVERY_QUEUE in queues else self._queues.intersection(queues)
        if ours <= self._names:  # nothing of ours, or the look is still to come
            return
        if threading.get_ident() == self._thread:
            self._note(ours)
        else:
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._note, ours)

    def take(self) -> frozenset[str]:
        """Names to look for now. What comes after this call is for the next look."""
        names, self._names = frozenset(self._names), set()
        self._asked = bool(names)
        if names:
            self._in_vain += 1
            self._taken_at = self._loop.time()
            self._be_deaf(SPACING_SECONDS)
        return names

    def answered(self, found: bool) -> None:
        """Whether the look after `take` brought anything."""
        if found:
            self._in_vain, self._deaf_until = 0, 0.0
            if self._names:
                self._ring()
        elif self._asked:
            took = self._loop.time() - self._taken_at
            self._be_deaf(min(LONGEST_SECONDS, max(SPACING_SECONDS, took * SHARE)))

    def _be_deaf(self, seconds: float) -> None:
        if self._in_vain > FREE:
            self._deaf_until = self._taken_at + seconds

    def _note(self, ours: frozenset[str]) -> None:
        self._names |= ours
        self._ring_in_time()

    def _ring_in_time(self) -> None:
        wait = self._deaf_until - self._loop.time()
        if wait <= 0:
            self._ring()
        elif self._later is None:
            self._later = self._loop.call_later(wait, self._ring_later)

    def _ring_later(self) -> None:
        self._later = None
        if self._names:
            self._ring_in_time()
