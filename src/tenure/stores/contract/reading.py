"""Reading jobs from a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from tenure.core.filter import JobFilter
from tenure.core.job import Job, State
from tenure.core.page import Page


class Precision(StrEnum):
    """How good a count is. AT_LEAST: counting stopped there; APPROXIMATE: an estimate."""

    EXACT = "exact"
    AT_LEAST = "atLeast"
    APPROXIMATE = "approximate"


@dataclass(frozen=True, slots=True)
class ShortError:
    """A failure as lists show it: without its traceback."""

    type: str
    message: str
    code: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """A finished step of a job; the result is JSON text."""

    name: str
    at: datetime
    result: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Relatives:
    """What a job has to do with others. Lists are cut at the bound that was asked for; jobs that
    are pruned are missing.
    """

    parent: Job | None = None
    batch: Job | None = None
    children: Sequence[Job] = ()
    waits_for: Sequence[Job] = ()
    dependents: Sequence[Job] = ()
    steps: Sequence[Step] = ()


@dataclass(frozen=True, slots=True)
class Count:
    """A number of jobs."""

    jobs: int
    precision: Precision = Precision.EXACT


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Jobs by state. `searched` and `complete` as those of a page."""

    states: Mapping[State, Count] = field(default_factory=dict)
    searched: int | None = None
    complete: bool = True


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

    def tally(self, where: JobFilter) -> Counts:
        """The same at a bounded cost; each count says how good it is."""
        found = self.count(where)
        return Counts(states={state: Count(jobs) for state, jobs in found.items()})

    def last_errors(self, ids: Sequence[str]) -> Mapping[str, ShortError]:
        """The last failure of each of these jobs; those without one are left out."""
        return {}

    def relatives(self, job: Job, limit: int = 100) -> Relatives:
        """Parent, children, links of `after`, finished steps."""
        return Relatives()
