"""What came of the runs of this process. Hears whole batches: a job costs about a microsecond."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import product
from typing import Any

from tenure.core.job import State
from tenure.core.rules.settlement import Settled, Settlement
from tenure.feature.metrics import Histogram
from tenure.jobs.handler import Handler
from tenure.watch.counting import Lately, Names
from tenure.watch.samples import Samples

MOST_ATTEMPTS = 20
FAILED = (State.FAILED, State.DEAD)
SUCCEEDED = State.SUCCEEDED


class Runs:
    """Subscribes to `jobs.settled` and `job.ended`; the loop's thread adds, a scrape reads."""

    def __init__(self, known: Iterable[Handler[Any]], docgen_kinds: tuple[str, ...] = ()) -> None:
        self._known = known
        self._lock = threading.Lock()
        self._ended: Counter[tuple[str, str, str]] = Counter()
        self._durations: defaultdict[tuple[str, str], Histogram] = defaultdict(Histogram)
        self._retries: Counter[str] = Counter()
        self._failed: Counter[tuple[str, str]] = Counter()
        self._docgen_failures: Counter[str] = Counter()
        self._is_docgen = lru_cache(maxsize=1_000)(
            lambda kind: any(fnmatchcase(kind, wanted) for wanted in docgen_kinds)
        )
        self._reasons = Names(50)
        self.done, self.repeated, self.broken = Lately(), Lately(), Lately()
        self.lost, self.missing = Lately(), Lately()

    def settled(self, _: str, facts: Mapping[str, Any]) -> None:
        """A batch that was written."""
        batch: Sequence[Settled] = facts["batch"]
        times: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
        others = []
        for one in batch:
            job, settlement, seconds = one
            if settlement.state is SUCCEEDED and seconds is not None:
                times[job.queue, job.kind].append(seconds * 1000)
            else:
                others.append(one)
        with self._lock:
            for place, found in times.items():
                self._ended[*place, "succeeded"] += len(found)
                self._durations[place].add_all(found)
            for one in others:
                self._other(one)
        self.done.add(len(batch) - len(others))

    def _other(self, one: Settled) -> None:
        """Everything but a success of a handler that returned."""
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
            self._fail(job.kind, state, _reason(settlement))

    def ended(self, _: str, facts: Mapping[str, Any]) -> None:
        """Ended by a claim: abandoned at the last attempt, cancelled or expired."""
        with self._lock:
            self._ended["", "", str(facts["state"])] += 1
            self.done.add(1)
            if facts["state"] in FAILED:
                self._fail("", facts["state"], str(facts["reason"]))

    def _fail(self, kind: str, state: State, reason: str) -> None:
        self.lost.add(1)
        self._failed[kind, str(state)] += 1
        if self._is_docgen(kind):
            self._docgen_failures[self._reasons(reason)] += 1

    def count(self, *states: str) -> int:
        """Runs of this process that ended like this."""
        with self._lock:
            return sum(n for (_, _, state), n in self._ended.items() if state in states)

    def sample(self, samples: Samples) -> None:
        """Everything, for a scrape."""
        with self._lock:
            for kind, state in product((one.kind for one in self._known), FAILED):
                self._failed[kind, str(state)] += 0  # from the start: else the first is no increase
            samples.counts("processed_total", self._ended)
            samples.counts("failed_total", self._failed)
            for name in ("retries_total", "retry_total"):
                samples.counts(name, self._retries)
            samples.counts("docgen_failures_total", self._docgen_failures)
            for (queue, kind), histogram in self._durations.items():
                samples.histogram("processing_duration_ms", histogram, queue, kind)
            self._documents(samples)
        self._rates(samples)

    def _documents(self, samples: Samples) -> None:
        for kind in sorted({kind for _, kind in self._durations if self._is_docgen(kind)}):
            parts = [one for (_, of), one in self._durations.items() if of == kind]
            whole = Histogram()
            whole.buckets = [
                sum(counts) for counts in zip(*(one.buckets for one in parts), strict=True)
            ]
            whole.total = sum(one.total for one in parts)
            samples.histogram("docgen_duration_ms", whole, kind)

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
    """A state; for a job that waits again, why."""
    if settlement.state is not State.QUEUED:
        return str(settlement.state)
    return settlement.entry if settlement.entry in ("snoozed", "released") else "retried"


def _reason(settlement: Settlement) -> str:
    """A code where there is one, else what was raised; never a message."""
    failure = settlement.failure
    if failure is not None:
        return failure.code or failure.type
    return settlement.reason or "unknown"
