"""Metrics of the workers in this process: uptime, polls, ticks, troubles."""

from __future__ import annotations

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from tenure.core.signals import Signals
from tenure.feature.metrics import Histogram
from tenure.watch.samples import Samples

JOBS = "jobs"
TROUBLES = (
    "store.unavailable", "heartbeat.failed", "settle.failed", "wake.failed", "worker.error",
    "ending.failed", "lease.lost", "job.settle_refused", "job.overrun", "job.news_dropped",
    "job.news_refused",
)  # fmt: skip
Facts = Mapping[str, Any]


class Working(Protocol):
    """The part of a worker's pipeline that is measured."""

    @property
    def running(self) -> int:
        """The number of running handlers."""
        ...


class Poller:
    """Counts what the workers of this process report by signals."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._working: dict[str, tuple[float, Working]] = {}
        self._ever = False
        self._counts: Counter[tuple[str, ...]] = Counter()
        self._ticks: defaultdict[str, Histogram] = defaultdict(Histogram)
        self._claims = Histogram()
        self.last_poll_at: float | None = None

    def listen(self, signals: Signals) -> None:
        """Subscribe to the signals of workers."""
        heard: dict[str, Callable[[str, Facts], None]] = {
            "worker.started": self._started,
            "worker.stopped": self._stopped,
            "jobs.claimed": self._claimed,
            "turn.done": self._turn,
            "tick.done": self._tick,
            "jobs.enqueued": self._enqueued,
            "jobs.purged": self._purged,
        }
        for name, hear in heard.items():
            signals.subscribe(hear, name)
        signals.subscribe(self._trouble, *TROUBLES)

    @property
    def uptime_seconds(self) -> float | None:
        """Seconds since the oldest running worker started; None if none runs."""
        since = [begun for begun, _ in list(self._working.values())]
        return time.monotonic() - min(since) if since else None

    @property
    def in_flight(self) -> int:
        """The number of running handlers."""
        return sum(pipeline.running for _, pipeline in list(self._working.values()))

    def sample(self, samples: Samples) -> None:
        """Add all values to a scrape. A process without a worker shows no worker metrics."""
        with self._lock:
            for (name, *labels), count in self._counts.items():
                samples.count(name, count, *labels)
            for runner, histogram in self._ticks.items():
                samples.histogram("tick_duration_ms", histogram, runner)
            if not self._ever:
                return
            samples.histogram("claim_duration_ms", self._claims)
        uptime = self.uptime_seconds
        samples.gauge("poller_running", float(uptime is not None))
        samples.gauge("poller_uptime_seconds", uptime or 0.0)
        samples.gauge("in_flight_jobs", self.in_flight)
        if self.last_poll_at is not None:
            samples.gauge("poller_last_poll_timestamp_seconds", self.last_poll_at)

    def _add(self, count: float, *name: str) -> None:
        with self._lock:
            self._counts[name] += int(count)

    def _started(self, _: str, facts: Facts) -> None:
        self._ever = True
        self._working[facts["id"]] = time.monotonic(), facts["pipeline"]

    def _stopped(self, _: str, facts: Facts) -> None:
        self._working.pop(facts["id"], None)

    def _claimed(self, _: str, facts: Facts) -> None:
        self.last_poll_at = time.time()
        with self._lock:
            self._claims.add(facts["seconds"] * 1000)

    def _turn(self, _: str, facts: Facts) -> None:
        self._ran(JOBS, facts["jobs"], facts["seconds"])

    def _tick(self, _: str, facts: Facts) -> None:
        for runner in facts["report"].runners:
            self._ran(runner.name, runner.processed, runner.seconds)
            if runner.failure is not None:
                self._add(1, "troubles_total", "runner.failed")

    def _ran(self, runner: str, processed: int, seconds: float) -> None:
        self._add(processed, "tick_processed_total", runner)
        with self._lock:
            self._ticks[runner].add(seconds * 1000)

    def _enqueued(self, _: str, facts: Facts) -> None:
        self._add(len(facts["ids"]), "enqueued_total")

    def _purged(self, _: str, facts: Facts) -> None:
        self._add(facts["jobs"], "purged_total")

    def _trouble(self, name: str, facts: Facts) -> None:
        self._add(1, "troubles_total", name)
