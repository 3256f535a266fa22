"""Progress and log lines on their way to the store. They never keep anything else from it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from tenure.core.errors import StoreUnavailable
from tenure.core.signals import Signals
from tenure.jobs.running_job import RunningJob
from tenure.stores.contract import JobStore, Report

UNSENT_KEPT = 1_000


class RunningReports:
    """What handlers say while they run. Used by the heartbeat's thread."""

    def __init__(self, jobs: JobStore, signals: Signals) -> None:
        self._jobs = jobs
        self._signals = signals
        self._unsent: list[Report] = []

    def send(self, jobs: Iterable[RunningJob]) -> None:
        """Write their news; if the store is unavailable, the latest ones are kept."""
        news = [job.take_news() for job in jobs]
        self._unsent += [report for report in news if report is not None]
        del self._unsent[:-UNSENT_KEPT]
        if self._unsent:
            write_reports(self._jobs, self._signals, self._unsent)
            self._unsent = []


class LastReports:
    """What runs said just before they ended. It is written before their settlements: afterwards the
    fence would refuse it.
    """

    def __init__(
        self, jobs: JobStore, signals: Signals, in_thread: Callable[..., Awaitable[Any]]
    ) -> None:
        self._jobs = jobs
        self._signals = signals
        self._in_thread = in_thread
        self._reports: list[Report] = []
        self.add = self._reports.append

    def take(self) -> list[Report]:
        """All of them, to be written by the caller or put back."""
        taken = self._reports[:]
        self._reports.clear()
        return taken

    def put_back(self, reports: list[Report]) -> None:
        """They could not be written now: first in line for the next try."""
        self._reports[:0] = reports

    async def write(self) -> None:
        """Write them; if the store is unavailable, they are kept for the next try."""
        if self._reports:
            taken = self.take()
            try:
                await self._in_thread(write_reports, self._jobs, self._signals, taken)
            except StoreUnavailable:
                self.put_back(taken)
                raise


def write_reports(jobs: JobStore, signals: Signals, reports: Sequence[Report]) -> None:
    """All in one call. If the store refuses that, one by one, dropping what it cannot take.

    If the store is unavailable, that is raised: then the same reports are worth another try.
    """
    try:
        refused = jobs.report(reports)
    except StoreUnavailable:
        raise
    except Exception as error:
        if len(reports) > 1:
            for report in reports:
                write_reports(jobs, signals, [report])
        else:
            signals.emit("job.news_dropped", id=reports[0].lease.job_id, error=error)
        return
    for job_id in refused:
        signals.emit("job.news_refused", id=job_id)
