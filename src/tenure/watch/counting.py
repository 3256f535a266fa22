"""Plain numbers that are cheap to add to: what happened lately, averages, names as labels."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

LONGEST_SECONDS = 300
OTHER = "other"


class Lately:
    """How much there was in the last minutes, to the second."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._begun = clock()
        self._seconds: deque[list[int]] = deque(maxlen=LONGEST_SECONDS + 1)

    def add(self, count: int) -> None:
        """So many, now."""
        if not count:
            return
        now = int(self._clock())
        if self._seconds and self._seconds[-1][0] == now:
            self._seconds[-1][1] += count
        else:
            self._seconds.append([now, count])

    def total(self, seconds: int = LONGEST_SECONDS) -> int:
        """Within so many seconds."""
        since = self._clock() - seconds
        return sum(count for at, count in list(self._seconds) if at >= since)

    def rate(self, seconds: int = 60) -> float:
        """Per second; a process that has just begun is not held against an hour."""
        known = min(seconds, max(1.0, self._clock() - self._begun))
        return self.total(seconds) / known


class Average:
    """An exponentially weighted one."""

    def __init__(self, weight: float = 0.05) -> None:
        self._weight = weight
        self.value: float | None = None

    def add(self, value: float) -> None:
        """The newest counts for `weight`, those before for the rest."""
        known = self.value
        self.value = value if known is None else known + self._weight * (value - known)


class Names:
    """Labels from outside: so many different ones, then `other`. A scrape must stay small."""

    def __init__(self, at_most: int = 100) -> None:
        self._at_most = at_most
        self._known: set[str] = set()

    def __call__(self, name: str) -> str:
        """The name itself, or `other`."""
        if name in self._known:
            return name
        if len(self._known) >= self._at_most:
            return OTHER
        self._known.add(name)
        return name


def share(part: float, whole: float) -> float:
    """Of nothing: nothing."""
    return part / whole if whole else 0.0
