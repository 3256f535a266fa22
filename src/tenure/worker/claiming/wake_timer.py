"""When a worker looks for jobs: at once after a wake-up, less often if wake-ups bring nothing."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Collection
from contextlib import suppress

from tenure.wakeups.due_jobs import EVERY_QUEUE

# Looks in vain before they are spaced: another worker may simply have been faster.
FREE = 3
SPACING_SECONDS = 0.04
# After a look in vain, rest this many times as long as it took: at most 5 % of the time is lost.
SHARE = 20
LONGEST_SECONDS = 1.0
# A job that is due later than this is left to polling: a timer for each would fill the memory.
SOON_SECONDS = 60.0
# The store's clock decides what is due. A look just before that moment would find nothing.
DUE_MARGIN_SECONDS = 0.002


class WakeTimer:
    """Collects the wake-ups for one worker's queues and calls `ring`.

    After a few looks in a row that found nothing it rings only every 40 ms, or after twenty times
    as long as such a look takes, until a look finds something.
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
        """These queues may have due jobs. Any thread may call it."""
        ours = self._queues if EVERY_QUEUE in queues else self._queues.intersection(queues)
        if ours <= self._names:  # nothing of ours, or the look is still to come
            return
        if threading.get_ident() == self._thread:
            self._note(ours)
        else:
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._note, ours)

    def due_in(self, queue: str, seconds: float) -> None:
        """A job of ours is due then: look for it without waiting for the next poll."""
        if seconds < SOON_SECONDS:
            self._loop.call_later(seconds + DUE_MARGIN_SECONDS, self.heard, (queue,))

    def take(self) -> frozenset[str]:
        """The queues to look for now. What comes after this call is for the next look."""
        names, self._names = frozenset(self._names), set()
        self._asked = bool(names)
        if names:
            self._in_vain += 1
            self._taken_at = self._loop.time()
            self._be_deaf(SPACING_SECONDS)
        return names

    def answered(self, found: bool) -> None:
        """Whether the look after `take` found anything."""
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
