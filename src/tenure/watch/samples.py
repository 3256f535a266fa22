"""Samples on their way to Prometheus, family by family, as the table of families has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
    SummaryMetricFamily,
)

from tenure.feature.metrics import Family, Histogram, Sort
from tenure.watch.counting import share

CLASSES = {
    Sort.GAUGE: GaugeMetricFamily,
    Sort.COUNTER: CounterMetricFamily,
    Sort.HISTOGRAM: HistogramMetricFamily,
    Sort.SUMMARY: SummaryMetricFamily,
}


class Samples:
    """One scrape. A name that is not in the table is an error."""

    def __init__(self, families: Mapping[str, Family]) -> None:
        self._families = {name: _empty(family) for name, family in families.items()}

    def __iter__(self) -> Iterator[Metric]:
        return iter(self._families.values())

    def gauge(self, name: str, value: float, *labels: str) -> None:
        """One value."""
        self._families[name].add_metric(labels, value)  # type: ignore[attr-defined]

    count = gauge

    def share(self, name: str, part: float, whole: float) -> None:
        """A part of a whole, from 0 to 1."""
        self.gauge(name, share(part, whole))

    def counts(self, name: str, found: Mapping[Any, int]) -> None:
        """A value for each set of labels: a tuple, or a text where there is one label."""
        for labels, value in found.items():
            self.gauge(name, value, *((labels,) if isinstance(labels, str) else labels))

    def histogram(self, name: str, histogram: Histogram, *labels: str) -> None:
        """Buckets and sum."""
        family = self._families[name]
        family.add_metric(labels, histogram.shown(), histogram.total)  # type: ignore[attr-defined]

    def summary(self, name: str, count: int, total: float, *labels: str) -> None:
        """Count and sum."""
        self._families[name].add_metric(labels, count, total)  # type: ignore[attr-defined]


def _empty(family: Family) -> Metric:
    made: Metric = CLASSES[family.sort](family.name, family.meaning, labels=family.labels)
    return made
