"""Connections at rest: the last one used is used next; what nobody needed for long is closed."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any

MOST = 32
LONG_SECONDS = 10.0


class Idle:
    """Threads may share it. After a fork the parent's connections are not ours: they are forgotten,
    and those that come back to the wrong process are closed.
    """

    def __init__(
        self, close: Callable[[Any], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._close = close
        self._clock = clock
        self._lock = threading.Lock()
        self._resting: list[tuple[Any, float]] = []
        self._process = os.getpid()

    def __len__(self) -> int:
        return len(self._resting)

    def take(self) -> Any | None:
        """The one that rests shortest, if there is one."""
        with self._lock:
            if self._process != os.getpid():
                self._resting, self._process = [], os.getpid()
            return self._resting.pop()[0] if self._resting else None

    def give_back(self, connection: Any) -> None:
        """Keep it for the next; at most one that has rested long goes."""
        now = self._clock()
        with self._lock:
            mine = self._process == os.getpid()
            keep = mine and len(self._resting) < MOST
            if keep:
                self._resting.append((connection, now))
            rested = mine and self._resting and now - self._resting[0][1] > LONG_SECONDS
            gone = self._resting.pop(0)[0] if rested else None
        for one in (gone, None if keep else connection):
            if one is not None:
                self._close(one)

    def close(self) -> None:
        """All of them."""
        with self._lock:
            resting, self._resting = self._resting, []
        for connection, _ in resting:
            self._close(connection)
