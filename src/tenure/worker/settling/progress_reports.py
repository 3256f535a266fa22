"""Progress and log lines on their way to the store. Bad news never keeps anything else from it."""

from __future__ import annotations

from collections.abc import Sequence

from tenure.core.errors import StoreUnavailable
from tenure.core.signals import Signals
from tenure.stores.contract import JobStore, Report


def write_news(jobs: JobStore, signals: Signals, reports: Sequence[Report]) -> None:
    """All in one call; where the store refuses that, one by one, dropping what it cannot take.

    A store that is away raises: then the same reports are worth another try.
    """
    try:
        refused = jobs.report(reports)
    except StoreUnavailable:
        raise
    except Exception as error:
        if len(reports) > 1:
            for report in reports:
                write_news(jobs, signals, [report])
        else:
            signals.emit("job.news_dropped", id=reports[0].lease.job_id, error=error)
        return
    for job_id in refused:
        signals.emit("job.news_refused", id=job_id)
