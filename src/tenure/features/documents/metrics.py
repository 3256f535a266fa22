"""How long documents take, and why they fail."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import lru_cache

from tenure.core.job import State
from tenure.core.settlement import Settlement
from tenure.core.signals import Signals
from tenure.feature import Counter, Durations, Facts
from tenure.watch.counting import Names

FAILED = (State.FAILED, State.DEAD)
MOST_REASONS = 50


class DocumentMetrics:
    """Listens to the runs of the kinds that make documents, in this process."""

    def __init__(self, kinds: tuple[str, ...]) -> None:
        self.duration = Durations(
            "docgen_duration_ms", "time per document, of the kinds in TENURE_DOCGEN_KINDS", "kind"
        )
        self.failures = Counter(
            "docgen_failures_total", "documents that failed, of the same kinds", "reason"
        )
        # Codes come from handlers: so many different ones, then `other`, or a scrape would grow.
        self._reasons = Names(MOST_REASONS)
        self._kinds = kinds
        self._is_document = lru_cache(maxsize=1_000)(
            lambda kind: any(fnmatchcase(kind, wanted) for wanted in kinds)
        )

    def listen(self, signals: Signals) -> None:
        """Subscribe; without kinds there is nothing to count, and no run pays for it."""
        if self._kinds:
            signals.subscribe(self._settled, "jobs.settled")

    def _settled(self, _: str, facts: Facts) -> None:
        for job, settlement, seconds in facts["batch"]:
            if not self._is_document(job.kind):
                continue
            if seconds is not None:
                self.duration.add(seconds * 1000, job.kind)
            if settlement.state in FAILED:
                self.failures.add(1, self._reasons(reason_of(settlement)))


def reason_of(settlement: Settlement) -> str:
    """A code where there is one, else what was raised; never a message."""
    failure = settlement.failure
    if failure is not None:
        return failure.code or failure.type
    return settlement.reason or "unknown"
