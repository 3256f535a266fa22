"""The feature itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from tenure import State, Tenure
from tenure.feature import EndedJob, Feature, Plan

KIND = "tally.item"


class Count(NamedTuple):
    """A row."""

    state: str
    jobs: int


class Tally(Feature):
    """Counters of ended jobs by state."""

    name = "tally"
    app: Tenure
    tables = "tests.features.tally"

    def __init__(self, app: Tenure) -> None:
        super().__init__(app)
        self.broken = False
        self.on_ending(KIND, self._moved)
        self.on_reopening(KIND, self._moved)
        self.on_purge(KIND, self._purged)

    def counts(self) -> dict[State, int]:
        """Jobs by the state in which they ended, without zeros."""
        rows = self.sql.rows(Count, "counts")
        return {State(one.state): one.jobs for one in rows if one.jobs}

    def _moved(self, jobs: Sequence[EndedJob]) -> Plan[None]:
        changes: Counter[State] = Counter(job.state for job in jobs)
        changes.subtract(Counter(job.former for job in jobs))
        yield from self._add(changes)

    def _purged(self, jobs: Sequence[EndedJob]) -> Plan[None]:
        changes: Counter[State] = Counter()
        changes.subtract(Counter(job.state for job in jobs))
        yield from self._add(changes)

    def _add(self, changes: Counter[State]) -> Plan[None]:
        for state in sorted(changes):  # sorted: no deadlocks
            if state.final and changes[state]:
                values: dict[str, Any] = {"state": str(state), "jobs": changes[state]}
                yield self.sql.statement("add", **values)
        if self.broken:
            yield self.sql.statement("add", state=None, jobs=None)
