"""A job that has said more than one answer holds."""

from __future__ import annotations

from tenure import Tenure
from tenure.stores.contract import ClaimRequest, LogLine, Report

AT_ONCE = 1_000


def talkative(engine: Tenure, lines: int) -> str:
    """The id of a running job with so many log lines."""
    engine.enqueue("talk")
    request = ClaimRequest(owner="w", kinds=["talk"], slots={"default": 1}, lease_seconds=60)
    (job,) = engine.store.jobs.claim(request).jobs
    for start in range(0, lines, AT_ONCE):
        said = [LogLine(f"line {number}") for number in range(start, min(start + AT_ONCE, lines))]
        engine.store.jobs.report([Report(lease=job.lease, lines=said)])
    return job.id
