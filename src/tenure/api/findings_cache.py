"""What `tenure doctor` finds, some seconds old: every open dashboard asks for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime

from tenure.app import Tenure
from tenure.feature.finding import Finding
from tenure.stores.sql.store import sql_store
from tenure.watch.doctor.checks import examine

FRESH_SECONDS = 5.0
CLOCK_SECONDS = 2.0
SNAPSHOT_SECONDS = 300.0


class FindingsCache:
    """One thread checks, others wait for its answer."""

    def __init__(self, engine: Tenure, elapsed: Callable[[], float] = time.monotonic) -> None:
        self._engine = engine
        self._elapsed = elapsed
        self._lock = threading.Lock()
        self._seen: tuple[float, datetime, list[Finding]] | None = None
        self._version: str | None = None

    def now(self) -> tuple[datetime, list[Finding]]:
        """When it was checked, and what was found."""
        with self._lock:
            if self._seen is None or self._elapsed() - self._seen[0] >= FRESH_SECONDS:
                found = self._check()
                self._seen = self._elapsed(), datetime.now(UTC), found
            return self._seen[1], self._seen[2]

    def _check(self) -> list[Finding]:
        if self._version is None:  # opens a connection of its own
            self._version = sql_store(self._engine.store).version()
        return list(examine(self._engine, self._version, CLOCK_SECONDS, SNAPSHOT_SECONDS))
