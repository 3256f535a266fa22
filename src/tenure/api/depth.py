"""How many jobs wait, counted now and then: a count over many must not follow every request."""

from __future__ import annotations

import threading
import time

from tenure.core.job import State
from tenure.engine import Tenure

FRESH_SECONDS = 5.0


class Depth:
    """One count for everybody who asks within five seconds."""

    def __init__(self, engine: Tenure) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._at = -FRESH_SECONDS
        self._queued = 0

    def now(self) -> int:
        """Queued jobs of all queues."""
        with self._lock:
            if time.monotonic() - self._at >= FRESH_SECONDS:
                waiting = (
                    one for one in self._engine.insight.depths() if one.state is State.QUEUED
                )
                self._queued = sum(one.jobs for one in waiting)
                self._at = time.monotonic()
            return self._queued
