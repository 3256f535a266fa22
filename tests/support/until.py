"""Waiting for something to become true, with a deadline: the only way tests wait."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
POLL_SECONDS = 0.02


def until(condition: Callable[[], T], seconds: float = 20) -> T:
    """The first true answer of `condition`; an AssertionError when the time is over."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, f"still not so after {seconds:g} s: {found!r}"
        time.sleep(POLL_SECONDS)
    return found
