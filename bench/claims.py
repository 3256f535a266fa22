"""Claim through the store as a worker does, and time the claim alone."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

from bench.meters import percentile
from bench.triples import Reading
from tenure import State, Tenure
from tenure.core.settlement import Settlement
from tenure.stores.contract import ClaimRequest

LEASE_SECONDS = 60.0


def claim(app: Tenure, slots: Mapping[str, int]) -> tuple[float, int]:
    """Milliseconds of one claim, and how many jobs it brought; they are settled at once."""
    request = ClaimRequest(
        owner=f"bench:{os.getpid()}",
        kinds=tuple(app.handlers.kinds),
        slots=slots,
        lease_seconds=LEASE_SECONDS,
        limits=app.limits.declared(),
    )
    begun = time.perf_counter()
    jobs = app.store.jobs.claim(request).jobs
    took = (time.perf_counter() - begun) * 1e3
    if jobs:
        ends = [Settlement(lease=job.lease, state=State.SUCCEEDED, result="null") for job in jobs]
        app.store.jobs.settle(ends)
    return took, len(jobs)


def paced(app: Tenure, slots: Mapping[str, int], per_second: float, seconds: float) -> list[float]:
    """Claim at a steady pace; a claim that takes too long delays the next, as in a worker."""
    times, begun = [], time.monotonic()
    for turn in range(int(per_second * seconds)):
        time.sleep(max(0.0, begun + turn / per_second - time.monotonic()))
        times.append(claim(app, slots)[0])
    return times


def median_claim(app: Tenure, slots: Mapping[str, int], jobs: int) -> Reading:
    """Claim so many jobs and no more; the median of the claims."""
    times: list[float] = []
    taken = 0
    while taken < jobs:
        took, got = claim(app, slots)
        if not got:
            raise SystemExit(f"a claim brought nothing after {taken} of {jobs} jobs")
        times.append(took)
        taken += got
    return Reading(value=percentile(times, 0.5), samples=tuple(times))
