"""Jobs as one caller may see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tenure.app import Tenure
from tenure.core.errors import JobNotFound
from tenure.core.filter import JobFilter
from tenure.core.job import Job, State
from tenure.core.page import Page
from tenure.core.rules.why import Why
from tenure.core.scope import Scope
from tenure.stores.contract import Attempt, LogLine
from tenure.stores.contract.reading import Counts, Relatives


@dataclass(frozen=True, slots=True)
class ScopedReads:
    """Another's job does not exist for the caller: JobNotFound by id, nothing in lists."""

    app: Tenure
    scope: Scope

    def get(self, job_id: str) -> Job:
        """One job, with payload and result."""
        found = self.app.store.jobs.get(job_id)
        if found is None or not self.scope.has(found):
            raise JobNotFound(job_id)
        return found

    def page(
        self, where: JobFilter | None = None, *, limit: int = 50, after: str | None = None
    ) -> Page[Job]:
        """Newest first, without payloads."""
        mine = self.scope.narrow(where or JobFilter())
        return (
            Page((), None)
            if mine is None
            else self.app.insight.page(mine, limit=limit, after=after)
        )

    def counts(self, where: JobFilter | None = None) -> Mapping[State, int]:
        """How many are in each state."""
        mine = self.scope.narrow(where or JobFilter())
        return {} if mine is None else self.app.insight.counts(mine)

    def tally(self, where: JobFilter | None = None) -> Counts:
        """How many are in each state, at a bounded cost."""
        mine = self.scope.narrow(where or JobFilter())
        return Counts() if mine is None else self.app.store.jobs.tally(mine)

    def relatives(self, job_id: str, limit: int = 100) -> Relatives:
        """Parent, children and dependencies within the scope, and finished steps."""
        found = self.app.store.jobs.relatives(self.get(job_id), limit)
        return replace(
            found,
            parent=self._mine(found.parent),
            batch=self._mine(found.batch),
            children=list(filter(self.scope.has, found.children)),
            waits_for=list(filter(self.scope.has, found.waits_for)),
            dependents=list(filter(self.scope.has, found.dependents)),
        )

    def history(self, job_id: str) -> list[Attempt]:
        """Every run and move, oldest first."""
        return self.app.insight.history(self.get(job_id))

    def logs(self, job_id: str, limit: int = 500, after: str | None = None) -> Sequence[LogLine]:
        """What its handlers said, oldest first; `after` is the id of the last line seen."""
        return self.app.insight.logs(self.get(job_id).id, limit, after)

    def why(self, job_id: str) -> Why:
        """The reason why it is not running."""
        return self.app.insight.why(self.get(job_id))

    def _mine(self, job: Job | None) -> Job | None:
        return job if job is not None and self.scope.has(job) else None
