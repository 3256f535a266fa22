"""One look at the database for all clients: a few statements, however many there are."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from tenure.api.events.changes import JobNews, SeenJobs, face
from tenure.app import Tenure
from tenure.core.job import Job, State
from tenure.core.page import MAX_PAGE

# Ids in one statement.
AT_ONCE = 1_000
MOST_LINES = 2_000


@dataclass(frozen=True, slots=True)
class Seen:
    """What a look found: changed jobs, oldest first, and the jobs that clients watch singly.

    `lost`: more has happened than can be looked at, so some changes are not reported.
    """

    changed: list[Job] = field(default_factory=list)
    watched: Mapping[str, JobNews] = field(default_factory=dict)
    lost: bool = False


class DatabaseLook:
    """Finds what has changed since the last look. Used by one thread at a time.

    It looks at the newest jobs, at those that were running when last seen, and at those that a hint
    names.
    """

    def __init__(self, engine: Tenure) -> None:
        self._engine = engine
        self._memory: SeenJobs | None = None
        self._told: dict[str, JobNews] = {}

    def look(self, *, everything: bool, hints: set[str], watched: Collection[str]) -> Seen:
        """Look once. The first look at all jobs reports nothing: later ones compare with it."""
        changed = self._changes(hints) if everything else []
        # Nobody watches everything: what changes now would be compared with old state later.
        if not everything:
            self._memory = None
        self._told = {job.id: self._news(job) for job in self._jobs(watched)}
        return Seen(changed, self._told)

    def _changes(self, hints: set[str]) -> list[Job]:
        first, memory = self._memory is None, self._memory or SeenJobs()
        self._memory = memory
        newest = self._engine.insight.page(limit=MAX_PAGE).rows
        elsewhere = (memory.followed | hints) - {job.id for job in newest}
        found = self._jobs(elsewhere)
        memory.forget(elsewhere - {job.id for job in found})
        changed = memory.changed([*sorted(found, key=_age), *reversed(newest)])
        return [] if first else changed

    def _jobs(self, ids: Iterable[str]) -> list[Job]:
        named = sorted(ids)
        parts = [named[start : start + AT_ONCE] for start in range(0, len(named), AT_ONCE)]
        found = (job for part in parts for job in self._engine.store.jobs.look(part).values())
        # Payloads and results may be large, and are not part of an event.
        return [replace(job, payload_json=None, result_json=None) for job in found]

    def _news(self, job: Job) -> JobNews:
        """Log lines are read after the job, so that none before its end is missed, and only if
        there may be new ones.
        """
        before = self._told.get(job.id)
        if before is not None and job.state is not State.RUNNING and face(before.job) == face(job):
            return before
        return JobNews(job, self._engine.insight.logs(job.id, MOST_LINES))


def _age(job: Job) -> tuple[datetime, int, str]:
    """Oldest first. Ids decide between jobs of the same moment, so that the order is stable."""
    return job.created_at, len(job.id), job.id
