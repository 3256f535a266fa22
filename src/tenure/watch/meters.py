"""The same metrics for OpenTelemetry: asked for when its reader collects, so they cost nothing.

The time in the handler is a histogram; of the other histograms count and sum are told.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from opentelemetry.metrics import CallbackOptions, Histogram, Meter, MeterProvider, Observation
from prometheus_client.core import Metric

from tenure.app import Tenure
from tenure.feature import Family, Feature, Sort
from tenure.watch.metric_families import FAMILIES
from tenure.watch.metrics import Metrics

DURATION = "processing_duration_ms"
FRESH_SECONDS = 1.0
Callback = Callable[[CallbackOptions], Iterable[Observation]]


def install_meters(app: Tenure, provider: MeterProvider) -> None:
    """Register the app's metrics with an OpenTelemetry provider, under the same names."""
    meter, last = provider.get_meter("tenure"), Last(Metrics.of(app))
    for family in FAMILIES.values():
        if family.name == DURATION:
            recorded = meter.create_histogram(DURATION, "ms", family.meaning)
            app.signals.subscribe(_recording(recorded), "jobs.settled")
        else:
            _observe(meter, family, last)

    def observe_feature(feature: Feature) -> None:
        for metric in feature.metrics:
            _observe(meter, metric.family, last)

    app.features.follow(observe_feature)


def _observe(meter: Meter, family: Family, last: Last) -> None:
    if family.sort is Sort.GAUGE:
        meter.create_observable_gauge(family.name, [last.asks(family.name, family)])
    elif family.sort is Sort.COUNTER:
        meter.create_observable_counter(family.name, [last.asks(family.name, family)])
    else:
        for part in (f"{family.name}_count", f"{family.name}_sum"):
            meter.create_observable_counter(part, [last.asks(part, family)])


class Last:
    """The last collected samples. Instruments that ask within a second share them."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._lock = threading.Lock()
        self._taken: tuple[float, dict[str, Metric]] | None = None

    def asks(self, sample: str, family: Family) -> Callback:
        """A callback that observes the samples of this name."""
        name = family.name.removesuffix("_total")  # as Prometheus' own families are called

        def ask(_: CallbackOptions) -> Iterable[Observation]:
            found = self._families()[name].samples
            return [Observation(one.value, one.labels) for one in found if one.name == sample]

        return ask

    def _families(self) -> dict[str, Metric]:
        with self._lock:
            now = time.monotonic()
            if self._taken is None or now - self._taken[0] >= FRESH_SECONDS:
                self._taken = now, {one.name: one for one in self._metrics.collect()}
            return self._taken[1]


def _recording(histogram: Histogram) -> Callable[[str, Mapping[str, Any]], None]:
    def record(_: str, facts: Mapping[str, Any]) -> None:
        for job, _settlement, seconds in facts["batch"]:
            if seconds is not None:
                histogram.record(seconds * 1000, {"queue": job.queue, "kind": job.kind})

    return record
