"""How quick the database is, as its statements tell; and what apps tell of other services."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from tenure.core.signals import Signals
from tenure.feature.metrics import Histogram
from tenure.watch.counting import Average, Lately, Names
from tenure.watch.samples import Samples

CONNECTION = "CONNECTION"
SLOW_MS = 100.0


class StoreTimes:
    """Told of every statement, from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._latency = Average()
        self._waits = Histogram()
        self._slow: dict[str, tuple[int, float]] = {}

    def hear(self, name: str, seconds: float) -> None:
        """One statement, COMMIT or CONNECTION."""
        milliseconds = seconds * 1000
        with self._lock:
            if name == CONNECTION:
                self._waits.add(milliseconds)
                return
            self._latency.add(milliseconds)
            if milliseconds >= SLOW_MS:
                count, total = self._slow.get(name, (0, 0.0))
                self._slow[name] = count + 1, total + milliseconds

    def sample(self, samples: Samples) -> None:
        """Everything, for a scrape."""
        with self._lock:
            if self._latency.value is not None:
                samples.gauge("db_latency_ewma", self._latency.value)
            samples.histogram("pool_wait_ms", self._waits)
            for name, (count, total) in self._slow.items():
                samples.summary("slow_query_ms", count, total, name)


class Services:
    """What features and apps tell: `ingest.done`, `api.called`, `api.usage`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._names = Names()
        self._ingest: Histogram | None = None
        self._calls: defaultdict[str, tuple[Lately, Lately]] = defaultdict(
            lambda: (Lately(), Lately())
        )
        self._usage: dict[str, float] = {}

    def listen(self, signals: Signals) -> None:
        """From now on."""
        signals.subscribe(self._ingested, "ingest.done")
        signals.subscribe(self._called, "api.called")
        signals.subscribe(self._used, "api.usage")

    def _ingested(self, _: str, facts: Mapping[str, Any]) -> None:
        with self._lock:
            self._ingest = self._ingest or Histogram()
            self._ingest.add(facts["seconds"] * 1000)

    def _called(self, _: str, facts: Mapping[str, Any]) -> None:
        with self._lock:
            calls, throttled = self._calls[self._names(facts["provider"])]
            calls.add(1)
            throttled.add(bool(facts["throttled"]))

    def _used(self, _: str, facts: Mapping[str, Any]) -> None:
        with self._lock:
            self._usage[self._names(facts["api"])] = facts["used"] / facts["limit"]

    def sample(self, samples: Samples) -> None:
        """Those that were told of."""
        with self._lock:
            if self._ingest is not None:
                samples.histogram("ingest_ms", self._ingest)
            for provider, (calls, throttled) in self._calls.items():
                rate = throttled.total() / (calls.total() or 1)
                samples.gauge("api_throttle_rate", rate, provider)
            for api, ratio in self._usage.items():
                samples.gauge("api_usage_ratio", ratio, api)
