"""One look for all clients: a few statements, whatever their number."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from tenure.api.events.changes import JobNews, Memory, face
from tenure.app import Tenure
from tenure.core.job import Job, State
from tenure.core.page import MAX_PAGE

AT_ONCE = 1_000
MOST_LINES = 2_000


@dataclass(frozen=True, slots=True)
class Seen:
    """What a look found: jobs that changed, oldest first, and those that somebody watches.

    `lost`: more has happened than can be looked at.
    """

    changed: list[Job] = field(default_factory=list)
    watched: Mapping[str, JobNews] = field(default_factory=dict)
    lost: bool = False


class Looker:
    """Remembers what it saw, so that the next look finds what is new. Used by one thread at a time.

    Of all jobs it sees the newest ones, those that ran when last seen, and those that somebody said
    something about.
    """

    def __init__(self, engine: Tenure) -> None:
        self._engine = engine
        self._memory: Memory | None = None
        self._told: dict[str, JobNews] = {}

    def look(self, *, everything: bool, hints: set[str], watched: Collection[str]) -> Seen:
        """The first look at everything finds nothing new: it is what the next ones compare with."""
        changed = self._changes(hints) if everything else []
        if not everything:
            self._memory = None
        self._told = {job.id: self._news(job) for job in self._jobs(watched)}
        return Seen(changed, self._told)

    def _changes(self, hints: set[str]) -> list[Job]:
        first, memory = self._memory is None, self._memory or Memory()
        self._memory = memory
        newest = self._engine.insight.page(limit=MAX_PAGE).rows
        elsewhere = (memory.followed | hints) - {job.id for job in newest}
        found = self._jobs(elsewhere)
        memory.forget(elsewhere - {job.id for job in found})
        changed = memory.changed(
            [*sorted(found, key=lambda job: job.created_at), *reversed(newest)]
        )
        return [] if first else changed

    def _jobs(self, ids: Iterable[str]) -> list[Job]:
        named = sorted(ids)
        parts = [named[start : start + AT_ONCE] for start in range(0, len(named), AT_ONCE)]
        found = (job for part in parts for job in self._engine.store.jobs.look(part).values())
        return [replace(job, payload=None, result=None) for job in found]  # they may be large

    def _news(self, job: Job) -> JobNews:
        """Log lines are read after the job, so that none before its end is missed; and only where
        there may be new ones.
        """
        before = self._told.get(job.id)
        if before is not None and job.state is not State.RUNNING and face(before.job) == face(job):
            return before
        return JobNews(job, self._engine.insight.logs(job.id, MOST_LINES))
