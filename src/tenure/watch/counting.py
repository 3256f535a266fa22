"""Plain numbers that are cheap to add to: what happened lately, averages, names as labels."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

LONGEST_SECONDS = 300
OTHER = "other"


class Lately:
    """Counts of the last five minutes, one number for each second."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._begun = clock()
        self._seconds: deque[list[int]] = deque(maxlen=LONGEST_SECONDS + 1)

    def add(self, count: int) -> None:
        """Add a count to the current second."""
        if not count:
            return
        now = int(self._clock())
        if self._seconds and self._seconds[-1][0] == now:
            self._seconds[-1][1] += count
        else:
            self._seconds.append([now, count])

    def total(self, seconds: int = LONGEST_SECONDS) -> int:
        """The sum over the last `seconds`."""
        since = self._clock() - seconds
        return sum(count for at, count in list(self._seconds) if at >= since)

    def rate(self, seconds: int = 60) -> float:
        """The average per second. A new process is measured over its own lifetime."""
        known = min(seconds, max(1.0, self._clock() - self._begun))
        return self.total(seconds) / known


class Average:
    """An exponentially weighted average."""

    def __init__(self, weight: float = 0.05) -> None:
        self._weight = weight
        self.value: float | None = None

    def add(self, value: float) -> None:
        """Add a value; the newest one has the weight `weight`."""
        known = self.value
        self.value = value if known is None else known + self._weight * (value - known)


class Names:
    """Bounds the number of label values. After `at_most` different names the rest are `other`."""

    def __init__(self, at_most: int = 100) -> None:
        self._at_most = at_most
        self._known: set[str] = set()

    def __call__(self, name: str) -> str:
        """The name, or `other` when there are too many."""
        if name in self._known:
            return name
        if len(self._known) >= self._at_most:
            return OTHER
        self._known.add(name)
        return name


def share(part: float, whole: float) -> float:
    """The ratio of part to whole; 0 if the whole is 0."""
    return part / whole if whole else 0.0
