"""Plain numbers that are cheap to add to: counts, histograms, what happened lately."""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable
from itertools import accumulate

DURATIONS_MS = (1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000,
                300_000, 900_000)  # fmt: skip
LABELS = tuple(map(str, map(float, DURATIONS_MS)))
LONGEST_SECONDS = 300
FEW = 20
OTHER = "other"


class Histogram:
    """Milliseconds in buckets. The buckets are disjoint here and cumulative when shown."""

    __slots__ = ("buckets", "total")

    def __init__(self) -> None:
        self.buckets = [0] * (len(DURATIONS_MS) + 1)
        self.total = 0.0

    def add(self, milliseconds: float) -> None:
        """One duration."""
        self.buckets[bisect_left(DURATIONS_MS, milliseconds)] += 1
        self.total += milliseconds

    def add_all(self, milliseconds: list[float]) -> None:
        """Many at once: sorted, each bucket is one search."""
        if len(milliseconds) < FEW:
            for one in milliseconds:
                self.add(one)
            return
        milliseconds.sort()
        before = 0
        for place, bound in enumerate(DURATIONS_MS):
            below = bisect_right(milliseconds, bound)
            self.buckets[place] += below - before
            before = below
        self.buckets[-1] += len(milliseconds) - before
        self.total += sum(milliseconds)

    def shown(self) -> list[tuple[str, float]]:
        """As Prometheus has it: each bound with all that is below it."""
        return list(zip((*LABELS, "+Inf"), accumulate(self.buckets), strict=True))


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
