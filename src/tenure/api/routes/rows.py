"""The rows of a list: their last failures and the reasons why they wait, read for all at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tenure.api.kit.service import Service
from tenure.api.kit.shapes.jobs import ListedJobShape, listed
from tenure.core.job import Job, State
from tenure.core.rules.why import Why


def list_rows(service: Service, jobs: Sequence[Job], *, why: bool) -> list[ListedJobShape]:
    """The jobs of a page as rows; one statement for their failures."""
    failed = [job.id for job in jobs if _may_have_failed(job)]
    errors = service.engine.store.jobs.last_errors(failed) if failed else {}
    reasons: Mapping[str, Why] = {}
    if why:
        waiting = [job for job in jobs if job.state is State.QUEUED]
        reasons = service.why_cache.whys(waiting)
    return [listed(job, errors.get(job.id), reasons.get(job.id)) for job in jobs]


def _may_have_failed(job: Job) -> bool:
    """A job before or in its first run has no failure, and neither has a success at once."""
    if job.fence == 0:
        return False
    return job.fence > 1 or job.state not in (State.RUNNING, State.SUCCEEDED)
