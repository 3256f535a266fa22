"""Adding a job as one caller may: for their own tenant and owner, and past nobody else's jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tenure.app import Tenure
from tenure.core.errors import JobNotFound, KeyConflict, KeyTaken
from tenure.core.filter import JobFilter
from tenure.core.job import NewJob
from tenure.core.refusals import Forbidden
from tenure.core.scope import Scope
from tenure.jobs.options import Options, TxOptions, take_tx_options
from tenure.jobs.reference import JobRef


@dataclass(frozen=True, slots=True)
class ScopedEnqueue:
    """See `ScopedJobs.enqueue`."""

    app: Tenure
    scope: Scope
    actor: str
    owner: str | None

    def enqueue(self, kind: str, payload: Any, options: Options) -> JobRef:
        """Add a job with the tenant and owner of the scope."""
        within = take_tx_options(options)
        job = self.app.new(kind, payload, **self._stamped(options))
        self._check_awaited(job.after)
        if self.scope.owner is None or job.key is None:
            return self.app.enqueue_many([job], **within)[0]
        if within["tx"] is not None:
            return self._add_keyed(job, within)
        # In one transaction, so that a job is rolled back if its key turns out to be another's.
        with self.app.transaction() as tx:
            return self._add_keyed(job, TxOptions(tx=tx, notify=None))

    def _stamped(self, options: Options) -> Options:
        tenant, owner = options.get("tenant"), options.get("owner")
        if self.scope.narrow(JobFilter(tenant=tenant, owner=owner)) is None:
            raise Forbidden("you can add jobs for your own tenant and owner only")
        stamped: Options = {**options, "enqueued_by": self.actor}
        if self.scope.tenant is not None:
            stamped["tenant"] = self.scope.tenant
        if owner is None:
            stamped["owner"] = self.owner if self.scope.owner is None else self.scope.owner
        return stamped

    def _check_awaited(self, ids: Sequence[str]) -> None:
        """JobNotFound for another's job: waiting for it would tell how it ended."""
        found = self.app.store.jobs.look(ids) if ids else {}
        for one in ids:
            if one not in found or not self.scope.has(found[one]):
                raise JobNotFound(one)

    def _add_keyed(self, job: NewJob, within: TxOptions) -> JobRef:
        """Keys belong to the tenant: another owner's job is neither shown nor replaced."""
        try:
            ref = self.app.enqueue_many([job], **within)[0]
        except KeyConflict as conflict:
            if self._is_in_scope(conflict.job_id):
                raise
            raise KeyTaken(conflict.kind, conflict.key) from None
        if not ref.created and not self._is_in_scope(ref.id) and job.key is not None:
            raise KeyTaken(job.kind, job.key.value)
        return ref

    def _is_in_scope(self, job_id: str) -> bool:
        found = self.app.store.jobs.get(job_id)
        return found is not None and self.scope.has(found)
