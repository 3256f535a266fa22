"""What a running job says about itself, and what has happened to it. Optional for a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from tenure.core.capability import Capability, CapabilityError
from tenure.core.lease import Lease


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line that a handler wrote about its job. A stored line has an id, which grows."""

    message: str
    level: str = "info"
    at: datetime | None = None
    id: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """News of a running job, written under its fence.

    Either progress and log lines; or, of a job that was claimed ahead, how many seconds ago it
    started; or, of a suspect, that it runs `alone`.
    """

    lease: Lease
    progress: float | None = None
    note: str | None = None
    lines: Sequence[LogLine] = ()
    begun_ago: float | None = None
    alone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One line of a job's history: a run that did not simply succeed, or an operator's move."""

    fence: int
    attempt: int
    entry: str
    worker: str | None
    started_at: datetime | None
    finished_at: datetime
    failure: dict[str, Any] | None = None

    @property
    def duration_seconds(self) -> float | None:
        """How long the run took; None for a move."""
        return (
            None
            if self.started_at is None
            else (self.finished_at - self.started_at).total_seconds()
        )


class Reporting(Protocol):
    """What a store keeps beside the state of a job. Each default is what a store does that lacks
    the capability.
    """

    @property
    def name(self) -> str:
        """What messages call the store."""
        ...

    def report(self, reports: Sequence[Report], tx: Any = None) -> frozenset[str]:
        """Write progress and log lines under the fence; answer the ids that were refused (3).

        Without the capability the news that a job has started is ignored.
        """
        for report in reports:
            if report.progress is not None or report.note is not None or report.lines:
                raise CapabilityError(Capability.REPORTS, self.name)
        return frozenset()

    def logs(self, job_id: str, limit: int = 500, after: str | None = None) -> Sequence[LogLine]:
        """Log lines, oldest first; `after` is the id of the last line seen."""
        raise CapabilityError(Capability.REPORTS, self.name)

    def history(self, job_id: str) -> Sequence[Attempt]:
        """What happened to the job, oldest first."""
        raise CapabilityError(Capability.HISTORY, self.name)

    def failure_counts(self, job_id: str) -> Mapping[str, int]:
        """How often it failed by each class with a bound of its own, since an operator last retried
        it: the `counts` of the newest failure in its history that has some.
        """
        raise CapabilityError(Capability.HISTORY, self.name)
