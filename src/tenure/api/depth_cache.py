"""How many jobs each queue has. Counting millions is slow, and pages ask every second."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from tenure.app import Tenure
from tenure.stores.contract.parts import Depth

# Below this the exact figure is worth its cost.
QUICK_SECONDS = 0.05
REST = 20
LONGEST_SECONDS = 60.0


class DepthCache:
    """Counts for each caller while that is fast. When it is slow, at most a twentieth of the time
    is spent on it: answers are as old as that makes them, and callers do not wait for each other.
    """

    def __init__(self, engine: Tenure, elapsed: Callable[[], float] = time.monotonic) -> None:
        self._engine = engine
        self._elapsed = elapsed
        self._counting = threading.Lock()
        self._seen: Sequence[Depth] | None = None
        self._good_until = float("-inf")

    def now(self) -> Sequence[Depth]:
        """Open jobs by queue, kind and state."""
        seen = self._seen
        if seen is not None and self._elapsed() < self._good_until:
            return seen
        # Only the first callers wait for a count; later ones get the last figures meanwhile.
        if not self._counting.acquire(blocking=seen is None) and seen is not None:
            return seen
        try:
            return self._count()
        finally:
            self._counting.release()

    def _count(self) -> Sequence[Depth]:
        begun = self._elapsed()
        if self._seen is not None and begun < self._good_until:
            return self._seen  # somebody has counted while we waited
        found = self._engine.insight.depths()
        took = self._elapsed() - begun
        slow = took >= QUICK_SECONDS
        self._good_until = begun + took + min(took * REST, LONGEST_SECONDS) if slow else begun
        self._seen = found if slow else None
        return found
