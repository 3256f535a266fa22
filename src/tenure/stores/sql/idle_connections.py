"""Connections that nobody uses now: the last one used is used next, surplus ones are closed."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any

# Connections that are kept; further ones are closed when they are given back.
MOST = 32
LONG_SECONDS = 10.0


class IdleConnections:
    """Threads may share it. After a fork it forgets the parent's connections, and closes those
    that are given back in the wrong process.
    """

    def __init__(
        self, close: Callable[[Any], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._close = close
        self._clock = clock
        self._lock = threading.Lock()
        self._idle: list[tuple[Any, float]] = []
        self._process = os.getpid()

    def __len__(self) -> int:
        return len(self._idle)

    def take(self) -> Any | None:
        """The connection that was used last, or None."""
        with self._lock:
            if self._process != os.getpid():
                self._idle, self._process = [], os.getpid()
            if not self._idle:
                return None
            connection, _ = self._idle.pop()
            return connection

    def give_back(self, connection: Any) -> None:
        """Keep it for the next user, and close the oldest one if it was idle for long."""
        now = self._clock()
        with self._lock:
            mine = self._process == os.getpid()
            keep = mine and len(self._idle) < MOST
            if keep:
                self._idle.append((connection, now))
            oldest, since = self._idle[0] if mine and self._idle else (None, now)
            if now - since > LONG_SECONDS:
                del self._idle[0]
            else:
                oldest = None
        for one in (oldest, None if keep else connection):
            if one is not None:
                self._close(one)

    def close(self) -> None:
        """Close all of them."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection, _ in idle:
            self._close(connection)
