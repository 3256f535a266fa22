"""Reading jobs from a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from tenure.core.filter import JobFilter
from tenure.core.job import Job, State
from tenure.core.page import Page


class Reading(Protocol):
    """How jobs are seen."""

    def get(self, job_id: str) -> Job | None:
        """One job, with payload and result; None for an id that no job has, whatever it looks
        like.
        """
        ...

    def look(self, ids: Sequence[str]) -> dict[str, Job]:
        """Many jobs at once, with payload and result, by id; missing ones are left out."""
        found = {job_id: self.get(job_id) for job_id in ids}
        return {job_id: job for job_id, job in found.items() if job is not None}

    def page(self, where: JobFilter, limit: int = 50, after: str | None = None) -> Page[Job]:
        """Newest first, without payloads; `after` is the cursor of another page."""
        ...

    def count(self, where: JobFilter) -> Mapping[State, int]:
        """How many jobs match, by state."""
        ...
