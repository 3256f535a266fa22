"""Blocking calls: never on a running event loop, and with growing pauses."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

from tenure.core.errors import SyncCallOnLoop

WAIT_FIRST = 0.01
WAIT_LONGEST = 0.5


def check_off_loop(name: str, instead: str) -> None:
    """Refuse a blocking call on a running event loop: it would stop every other task."""
    if asyncio._get_running_loop() is not None:  # the public form raises where there is none
        raise SyncCallOnLoop(name, instead)


def pauses(seconds: float) -> Iterator[float]:
    """Growing pauses of `seconds` in all."""
    deadline, pause = time.monotonic() + seconds, WAIT_FIRST
    while (left := deadline - time.monotonic()) > 0:
        yield min(pause, left)
        pause = min(pause * 2, WAIT_LONGEST)
