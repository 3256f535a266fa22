"""Jobs as one caller may see and move them. Faces touch jobs through this and nothing else.

The scope is part of every statement that changes a job, not only of a check before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from tenure.app import Tenure
from tenure.core.errors import (
    FilterRequired,
    JobNotFound,
    KeyConflict,
    KeyTaken,
)
from tenure.core.filter import JobFilter
from tenure.core.job import Job, NewJob, State
from tenure.core.page import Page
from tenure.core.refusals import (
    Forbidden,
)
from tenure.core.rules.why import Why
from tenure.core.scope import Scope
from tenure.jobs.options import Options, Place, new_job, take_place
from tenure.jobs.reference import JobRef
from tenure.operations.operator import Watcher, dead_letters
from tenure.stores.contract import Attempt, Change, Changed, LogLine, Move


@dataclass(frozen=True, slots=True)
class Scoped:
    """What is not theirs is not there: JobNotFound by id, nothing in lists, counts and moves.

    `actor` stands in histories; `owner` gets the jobs that are added where the scope names nobody.
    """

    app: Tenure
    scope: Scope
    actor: str
    owner: str | None = None

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

    def history(self, job_id: str) -> list[Attempt]:
        """Every run and move, oldest first."""
        return self.app.insight.history(self.get(job_id))

    def logs(self, job_id: str, limit: int = 500, after: str | None = None) -> Sequence[LogLine]:
        """What its handlers said, oldest first; `after` is the id of the last line seen."""
        return self.app.insight.logs(self.get(job_id).id, limit, after)

    def why(self, job_id: str) -> Why:
        """The one reason why it is not running."""
        return self.app.insight.why(self.get(job_id))

    def cancel(self, job_id: str) -> Job:
        """A waiting job ends at once; a running one is asked to stop."""
        return self._move(job_id, Change(move=Move.CANCEL, actor=self.actor))

    def retry(self, job_id: str) -> Job:
        """A finished job starts anew; a waiting one is due now; a running one is left alone."""
        return self._move(job_id, Change(move=Move.RETRY, actor=self.actor))

    def reprioritise(self, job_id: str, priority: int) -> Job:
        """Another place in the queue; the priority is checked like that of a new job."""
        checked = new_job("any", "{}", {"priority": priority}).priority
        change = Change(move=Move.REPRIORITISE, actor=self.actor, priority=checked)
        return self._move(job_id, change)

    def preview(self, where: JobFilter) -> int:
        """How many jobs match now."""
        return sum(self.counts(where).values())

    def replay(self, where: JobFilter, *, watch: Watcher | None = None) -> Changed:
        """Failed and dead jobs that match start anew, unless the filter names other states."""
        change = Change(move=Move.RETRY, actor=self.actor)
        return self._move_all("replay", where, dead_letters(where), change, watch)

    def cancel_all(self, where: JobFilter, *, watch: Watcher | None = None) -> Changed:
        """Whatever matches is cancelled."""
        change = Change(move=Move.CANCEL, actor=self.actor)
        return self._move_all("cancel", where, where, change, watch)

    def enqueue(self, kind: str, payload: Any = None, **options: Unpack[Options]) -> JobRef:
        """Add a job of theirs: tenant and owner are those of the scope, another one is refused."""
        place = take_place(options)
        job = self.app.new(kind, payload, **self._stamped(options))
        self._check_awaited(job.after)
        if self.scope.owner is None or job.key is None:
            return self.app.enqueue_many([job], **place)[0]
        if place["tx"] is not None:
            return self._add_keyed(job, place)
        with self.app.transaction() as tx:
            return self._add_keyed(job, Place(tx=tx, notify=None))

    def _move(self, job_id: str, change: Change) -> Job:
        return self.app.operator.move(job_id, change, self.scope)

    def _move_all(
        self, name: str, asked: JobFilter, where: JobFilter, change: Change, watch: Watcher | None
    ) -> Changed:
        """The scope is no filter: who names nothing moves nothing, not all that is theirs."""
        if asked.empty:
            raise FilterRequired(name)
        mine = self.scope.narrow(where)
        return Changed() if mine is None else self.app.operator.move_all(mine, change, watch=watch)

    def _stamped(self, options: Options) -> Options:
        tenant, owner = options.get("tenant"), options.get("owner")
        if self.scope.narrow(JobFilter(tenant=tenant, owner=owner)) is None:
            raise Forbidden("a job can be added for your own tenant and owner only")
        stamped: Options = {**options, "enqueued_by": self.actor}
        if self.scope.tenant is not None:
            stamped["tenant"] = self.scope.tenant
        if owner is None:
            stamped["owner"] = self.owner if self.scope.owner is None else self.scope.owner
        return stamped

    def _check_awaited(self, ids: Sequence[str]) -> None:
        """Nobody learns by waiting for it how another's job ended."""
        found = self.app.store.jobs.look(ids) if ids else {}
        for one in ids:
            if one not in found or not self.scope.has(found[one]):
                raise JobNotFound(one)

    def _add_keyed(self, job: NewJob, place: Place) -> JobRef:
        """Keys belong to the tenant: another owner's job is neither told of nor replaced."""
        try:
            ref = self.app.enqueue_many([job], **place)[0]
        except KeyConflict as conflict:
            if self._theirs(conflict.job_id):
                raise
            raise KeyTaken(conflict.kind, conflict.key) from None
        if not ref.created and not self._theirs(ref.id) and job.key is not None:
            raise KeyTaken(job.kind, job.key.value)
        return ref

    def _theirs(self, job_id: str) -> bool:
        found = self.app.store.jobs.get(job_id)
        return found is not None and self.scope.has(found)
