"""Counts how the runs of this worker ended, and adds them to the fleet's rollups every few seconds.

Counting is a few additions in memory for each run. What a killed worker has not added yet is lost
to the charts; a worker that stops adds everything.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from operator import attrgetter, itemgetter
from typing import Any

from tenure.core.errors import CommitUnknown
from tenure.core.job import State
from tenure.core.lease import ClaimedJob
from tenure.core.rules.error_groups import MESSAGE_LENGTH, group_of, normalised
from tenure.core.rules.rollups import (
    BOUNDS,
    BUCKETS,
    CODES,
    EVERYTHING,
    OTHER_KIND,
    RETRIES,
    RUNS,
    WAITS,
    Line,
)
from tenure.core.settlement import Settlement
from tenure.stores.contract import Capability, Store
from tenure.stores.contract.rollups import FailureCount
from tenure.worker.running.run import Run

FLUSH_SECONDS = 5.0
MOST_PAIRS = 500
MOST_GROUPS = 1_000
MEASURES = RUNS + BUCKETS
QUEUED, SUCCEEDED = State.QUEUED, State.SUCCEEDED
CODE_SUCCEEDED = CODES[SUCCEEDED]
FAILURES = ("error", "timeout", "crashed")
ONLY_SUCCESS = {SUCCEEDED}
# Of the measures below the histograms: what is not kept, such as a snooze.
NOTHING = WAITS - 1
SAMPLES = 16
STATE = itemgetter(Settlement._fields.index("state"))
CLAIMED = attrgetter("claimed")
PAIR = itemgetter(ClaimedJob._fields.index("queue"), ClaimedJob._fields.index("kind"))
Pair = tuple[str, str]
Group = tuple[str, str, int]


class Rollups:
    """The event loop counts, a thread flushes; a lock for each batch keeps every number."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._pairs: dict[Pair, list[int]] = {}
        self._groups: dict[Group, FailureCount] = {}
        self.wanted = Capability.ROLLUPS in store.capabilities

    def count(
        self, batch: Sequence[Settlement], runs: Sequence[Run | None], applied: frozenset[str]
    ) -> None:
        """A batch that was written, as far as it was."""
        if self.wanted:
            with self._lock:
                self._count(batch, runs, applied)

    def _count(
        self, batch: Sequence[Settlement], runs: Sequence[Run | None], applied: frozenset[str]
    ) -> None:
        """Nearly always a batch is nothing but successes: they are counted without a loop of ours,
        which would take longer than all the rest of settling them.
        """
        simple = len(applied) == len(batch) and set(map(STATE, batch)) == ONLY_SUCCESS
        if simple and None not in runs:
            self._count_successes(runs)
            return
        everything = self._measures(EVERYTHING)
        for item, run in zip(batch, runs, strict=True):
            if run is None or item.returned or item.lease.job_id not in applied:
                continue
            measures = self._measures((run.claimed.queue, run.claimed.kind))
            self._count_ending(item, run, measures, everything)
            _add_times(run, 1, measures, everything)

    def _count_successes(self, runs: Sequence[Any]) -> None:
        everything = self._measures(EVERYTHING)
        everything[CODE_SUCCEEDED] += len(runs)
        for pair, n in Counter(map(PAIR, map(CLAIMED, runs))).items():
            self._measures(pair)[CODE_SUCCEEDED] += n
        # The times of a large batch are sampled: percentiles are as good, at a tenth of the cost.
        stride = -(-len(runs) // SAMPLES)
        for place in range(0, len(runs), stride):
            run = runs[place]
            weight = min(stride, len(runs) - place)
            _add_times(run, weight, self._measures(PAIR(run.claimed)), everything)

    def count_one(self, item: Settlement, run: Run) -> None:
        """A run whose handler has settled it."""
        self.count([item], [run], frozenset([item.lease.job_id]))

    def flush(self) -> None:
        """Add what was counted. What cannot be written now is added by the next flush."""
        lines, failures = self._take()
        try:
            self._store.rollups.add(lines)
            lines = []
            self._store.rollups.add_failures(failures)
        except CommitUnknown:
            raise  # it may be written: adding it again might count it twice
        except Exception:
            self._put_back(lines, failures)
            raise

    def flush_quietly(self) -> None:
        """At the end, when nobody is left to be told."""
        with suppress(Exception):
            self.flush()

    def _measures(self, pair: Pair) -> list[int]:
        found = self._pairs.get(pair)
        if found is None:
            if len(self._pairs) >= MOST_PAIRS and pair[1] != OTHER_KIND:
                return self._measures((pair[0], OTHER_KIND))
            found = self._pairs[pair] = [0] * MEASURES
        return found

    def _count_ending(
        self, item: Settlement, run: Run, measures: list[int], everything: list[int]
    ) -> None:
        measure = CODES[item.state]
        if item.state is QUEUED:
            measure = RETRIES if item.entry in FAILURES else NOTHING
        measures[measure] += 1
        everything[measure] += 1
        if item.failure is not None and len(self._groups) < MOST_GROUPS:
            self._fail(item, run)

    def _fail(self, item: Settlement, run: Run) -> None:
        failure, claimed = item.failure, run.claimed
        if failure is None:
            return
        group = group_of(failure.type, failure.message)
        key = claimed.kind, claimed.tenant, group
        known = self._groups.get(key)
        self._groups[key] = FailureCount(
            kind=claimed.kind,
            tenant=claimed.tenant,
            group=group,
            failures=1 if known is None else known.failures + 1,
            sample_job=claimed.lease.job_id,
            type=failure.type[:MESSAGE_LENGTH],
            message=normalised(failure.message) if known is None else known.message,
            sample_message=failure.message[:MESSAGE_LENGTH],
        )

    def _take(self) -> tuple[list[Line], list[FailureCount]]:
        with self._lock:
            pairs, self._pairs = self._pairs, {}
            groups, self._groups = self._groups, {}
        return list(_lines(pairs)), list(groups.values())

    def _put_back(self, lines: Sequence[Line], failures: Sequence[FailureCount]) -> None:
        with self._lock:
            for line in lines:
                self._measures((line.queue, line.kind))[line.measure] += line.n
            for failure in failures:
                key = failure.kind, failure.tenant, failure.group
                later = self._groups.get(key)
                more = 0 if later is None else later.failures
                self._groups[key] = replace(failure, failures=failure.failures + more)


def _lines(pairs: dict[Pair, list[int]]) -> Iterable[Line]:
    for (queue, kind), measures in sorted(pairs.items()):
        for measure, n in enumerate(measures):
            if n and measure != NOTHING:
                yield Line(queue, kind, measure, n)


def _add_times(run: Run, weight: int, measures: list[int], everything: list[int]) -> None:
    if run.begun is not None:
        place = WAITS + bisect_left(BOUNDS, _waited(run, run.begun))
        measures[place] += weight
        everything[place] += weight
    if run.seconds is not None:
        place = RUNS + bisect_left(BOUNDS, run.seconds)
        measures[place] += weight
        everything[place] += weight


def _waited(run: Run, begun: float) -> float:
    """From the time that it was due until its handler began."""
    claimed = run.claimed
    due = claimed.run_micros or claimed.started_micros
    return max(0, claimed.started_micros - due) / 1_000_000 + begun - run.waits_since
