"""Jobs as one caller may see and move them. The HTTP API reaches jobs through this class only.

The scope is part of every statement that changes a job, not only of a check before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

from tenure.access.scoped_enqueue import ScopedEnqueue
from tenure.access.scoped_reads import ScopedReads
from tenure.core.errors import FilterRequired
from tenure.core.filter import JobFilter
from tenure.core.job import Job
from tenure.jobs.options import Options, new_job
from tenure.jobs.reference import JobRef
from tenure.operations.operator import Watcher, dead_letters
from tenure.stores.contract import Change, Changed, Move


@dataclass(frozen=True, slots=True)
class ScopedJobs(ScopedReads):
    """Another's job does not exist for the caller: JobNotFound by id, nothing in lists and moves.

    `actor` is the name in histories; `owner` is the owner of added jobs if the scope names none.
    """

    actor: str
    owner: str | None = None

    def cancel(self, job_id: str) -> Job:
        """A waiting job ends at once; a running one is asked to stop."""
        return self._move(job_id, Change(move=Move.CANCEL, actor=self.actor))

    def retry(self, job_id: str) -> Job:
        """A finished job starts anew; a waiting one is due now; a running one is left alone."""
        return self._move(job_id, Change(move=Move.RETRY, actor=self.actor))

    def reprioritise(self, job_id: str, priority: int) -> Job:
        """Change the priority; it is checked like that of a new job."""
        checked = new_job("any", "{}", {"priority": priority}).priority
        change = Change(move=Move.REPRIORITISE, actor=self.actor, priority=checked)
        return self._move(job_id, change)

    def preview(self, where: JobFilter) -> int:
        """How many jobs match now."""
        return sum(self.counts(where).values())

    def replay(
        self, where: JobFilter, *, watch: Watcher | None = None, start: Changed | None = None
    ) -> Changed:
        """Failed and dead jobs that match start anew, unless the filter names other states."""
        change = Change(move=Move.RETRY, actor=self.actor)
        return self._move_all("replay", where, dead_letters(where), change, watch, start)

    def cancel_all(
        self, where: JobFilter, *, watch: Watcher | None = None, start: Changed | None = None
    ) -> Changed:
        """Cancel all jobs that match."""
        change = Change(move=Move.CANCEL, actor=self.actor)
        return self._move_all("cancel", where, where, change, watch, start)

    def enqueue(self, kind: str, payload: Any = None, **options: Unpack[Options]) -> JobRef:
        """Add a job with the tenant and owner of the scope; Forbidden for any other."""
        adding = ScopedEnqueue(self.app, self.scope, self.actor, self.owner)
        return adding.enqueue(kind, payload, options)

    def _move(self, job_id: str, change: Change) -> Job:
        return self.app.operator.move(job_id, change, self.scope)

    def _move_all(
        self,
        name: str,
        asked: JobFilter,
        where: JobFilter,
        change: Change,
        watch: Watcher | None,
        start: Changed | None,
    ) -> Changed:
        """The scope is no filter: without one nothing is moved, not everything in the scope."""
        # Judged by what was asked for: a scope alone would make every move a move of everything.
        if asked.empty:
            raise FilterRequired(name)
        mine = self.scope.narrow(where)
        if mine is None:
            return Changed()
        return self.app.operator.move_all(mine, change, watch=watch, start=start)
