"""Metrics that a feature declares: name, labels, meaning, and the numbers themselves."""

from __future__ import annotations

import collections
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate
from typing import Any, Protocol

DURATIONS_MS = (1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000,
                300_000, 900_000)  # fmt: skip
LABELS = tuple(map(str, map(float, DURATIONS_MS)))
# Below this many values, adding one by one is quicker than sorting them first.
FEW = 20


class Sort(StrEnum):
    """How a metric is read."""

    GAUGE = "gauge"
    COUNTER = "counter"
    HISTOGRAM = "histogram"
    SUMMARY = "summary"


@dataclass(frozen=True, slots=True)
class Family:
    """A metric: its samples carry these labels."""

    name: str
    sort: Sort
    labels: tuple[str, ...]
    meaning: str


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


class Scrape(Protocol):
    """Where a metric puts its values: `tenure.watch.samples.Samples`."""

    def gauge(self, name: str, value: float, *labels: str) -> None:
        """One value."""
        ...

    def histogram(self, name: str, histogram: Histogram, *labels: str) -> None:
        """Buckets and sum."""
        ...


class Metric(Protocol):
    """One family, and how its values are collected."""

    @property
    def family(self) -> Family:
        """Its name, labels and meaning."""
        ...

    def sample(self, scrape: Scrape) -> None:
        """Put its values into a scrape. May be called from any thread."""
        ...


class Counter:
    """A number that only grows: `sent = Counter("mails_sent_total", "mails sent", "provider")`."""

    def __init__(self, name: str, meaning: str, *labels: str) -> None:
        self.family = Family(name, Sort.COUNTER, labels, meaning)
        self._lock = threading.Lock()
        self._counts: collections.Counter[tuple[str, ...]] = collections.Counter()
        if not labels:
            self._counts[()] = 0  # shown from the start: else the first count is no increase

    def add(self, count: int = 1, *labels: str) -> None:
        """So many more."""
        with self._lock:
            self._counts[labels] += count

    def sample(self, scrape: Scrape) -> None:
        """See `Metric`."""
        with self._lock:
            counts = dict(self._counts)
        for labels, count in counts.items():
            scrape.gauge(self.family.name, count, *labels)


class Gauge:
    """A number that is read when somebody asks. `read` answers it, or one for each label.

    A `read` that raises leaves the metric out of that scrape: a database that is away does not
    take the other metrics with it.
    """

    def __init__(
        self, name: str, meaning: str, *labels: str, read: Callable[[], float | Mapping[Any, float]]
    ) -> None:
        self.family = Family(name, Sort.GAUGE, labels, meaning)
        self._read = read

    def sample(self, scrape: Scrape) -> None:
        """See `Metric`."""
        try:
            found = self._read()
        except Exception:
            return
        values = found if isinstance(found, Mapping) else {(): found}
        for labels, value in values.items():
            named = (labels,) if isinstance(labels, str) else labels
            scrape.gauge(self.family.name, value, *named)


class Durations:
    """How long something took, as a histogram in milliseconds."""

    def __init__(self, name: str, meaning: str, *labels: str) -> None:
        self.family = Family(name, Sort.HISTOGRAM, labels, meaning)
        self._lock = threading.Lock()
        self._found: dict[tuple[str, ...], Histogram] = {}

    def add(self, milliseconds: float, *labels: str) -> None:
        """One duration."""
        with self._lock:
            self._found.setdefault(labels, Histogram()).add(milliseconds)

    def sample(self, scrape: Scrape) -> None:
        """See `Metric`."""
        with self._lock:
            for labels, histogram in self._found.items():
                scrape.histogram(self.family.name, histogram, *labels)
