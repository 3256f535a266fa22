"""Counts how the runs of this process ended. Batches keep the cost near 1 µs per job."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

from tenure.core.job import State
from tenure.core.settlement import SettledRun, Settlement
from tenure.feature.metrics import Histogram
from tenure.jobs.handler import Handler
from tenure.watch.counting import Lately
from tenure.watch.samples import Samples

MOST_ATTEMPTS = 20
FAILED = (State.FAILED, State.DEAD)
SUCCEEDED = State.SUCCEEDED


class Runs:
    """Subscribes to `jobs.settled` and `job.ended`; the loop's thread adds, a scrape reads."""

    def __init__(self, known: Iterable[Handler[Any]]) -> None:
        self._known = known
        self._lock = threading.Lock()
        self._ended: Counter[tuple[str, str, str]] = Counter()
        self._durations: defaultdict[tuple[str, str], Histogram] = defaultdict(Histogram)
        self._retries: Counter[str] = Counter()
        self._failed: Counter[tuple[str, str]] = Counter()
        self.done, self.repeated, self.broken = Lately(), Lately(), Lately()
        self.lost, self.missing = Lately(), Lately()

    def settled(self, _: str, facts: Mapping[str, Any]) -> None:
        """Count a batch of settled runs."""
        batch: Sequence[SettledRun] = facts["batch"]
        times: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
        others = []
        for one in batch:
            job, settlement, seconds = one
            if settlement.state is SUCCEEDED and seconds is not None:
                times[job.queue, job.kind].append(seconds * 1000)
            else:
                others.append(one)
        with self._lock:
            for labels, found in times.items():
                self._ended[*labels, "succeeded"] += len(found)
                self._durations[labels].add_all(found)
            for one in others:
                self._other(one)
        self.done.add(len(batch) - len(others))

    def _other(self, one: SettledRun) -> None:
        """Count a run that did not simply succeed."""
        job, settlement, seconds = one
        state = settlement.state
        if seconds is not None:
            self._durations[job.queue, job.kind].add(seconds * 1000)
        self._ended[job.queue, job.kind, word_of(settlement)] += 1
        if settlement.entry in ("error", "timeout"):
            self.broken.add(1)
        if state is State.QUEUED:
            if settlement.entry in ("error", "timeout"):
                self._retries[str(min(job.attempt, MOST_ATTEMPTS))] += 1
                self.repeated.add(1)
            return
        self.done.add(1)
        self.missing.add(state is State.NOT_FOUND)
        if state in FAILED:
            self._fail(job.kind, state)

    def ended(self, _: str, facts: Mapping[str, Any]) -> None:
        """Count a job that a claim ended: abandoned at the last attempt, cancelled or expired."""
        with self._lock:
            self._ended["", "", str(facts["state"])] += 1
            self.done.add(1)
            if facts["state"] in FAILED:
                self._fail("", facts["state"])

    def _fail(self, kind: str, state: State) -> None:
        self.lost.add(1)
        self._failed[kind, str(state)] += 1

    def count(self, *states: str) -> int:
        """The number of runs that ended in these states."""
        with self._lock:
            return sum(n for (_, _, state), n in self._ended.items() if state in states)

    def sample(self, samples: Samples) -> None:
        """Add all values to a scrape."""
        with self._lock:
            for kind, state in product((one.kind for one in self._known), FAILED):
                self._failed[kind, str(state)] += 0  # from the start: else the first is no increase
            samples.counts("processed_total", self._ended)
            samples.counts("failed_total", self._failed)
            for name in ("retries_total", "retry_total"):
                samples.counts(name, self._retries)
            for (queue, kind), histogram in self._durations.items():
                samples.histogram("processing_duration_ms", histogram, queue, kind)
        self._rates(samples)

    def _rates(self, samples: Samples) -> None:
        done, repeated = self.done.total(), self.repeated.total()
        samples.gauge("processing_rate", self.done.rate())
        samples.gauge("items_sec", self.done.rate())
        samples.gauge("retry_rate", self.repeated.rate())
        samples.share("failure_rate", self.lost.total(), done)
        samples.share("error_rate", self.broken.total(), done + repeated)
        samples.share("not_found_rate", self.missing.total(), done)
        samples.share("retry_churn", repeated, done)


def word_of(settlement: Settlement) -> str:
    """The final state; for a job that waits again: retried, snoozed, throttled or released."""
    if settlement.state is not State.QUEUED:
        return str(settlement.state)
    put_off = ("snoozed", "throttled", "released")
    return settlement.entry if settlement.entry in put_off else "retried"
