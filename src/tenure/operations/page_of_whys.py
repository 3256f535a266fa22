"""Why the waiting jobs of a page do not run: asked for queue by queue, not job by job."""

from __future__ import annotations

from collections.abc import Sequence

from tenure.core.job import Job, State
from tenure.core.rules.holds import KeyHold
from tenure.core.rules.order import Hold
from tenure.core.rules.why import Facts, Why, why
from tenure.operations.insight import Around, due_facts, holds_of
from tenure.stores.contract import Store


class PageOfWhys:
    """Asks the store once for what several jobs of a page have in common."""

    def __init__(self, store: Store, around: Around) -> None:
        self._store = store
        self._around = around
        self._heads: dict[tuple[str, str | None], tuple[str, State] | None] = {}
        self._running: dict[str, int] = {}

    def of(self, jobs: Sequence[Job]) -> dict[str, Why]:
        """The reasons, by id."""
        due = [job for job in jobs if not job.hold and self._is_due(job)]
        ahead = self._store.queues.ahead_of(due) if due else {}
        held = holds_of(self._store, [job for job in jobs if self._is_due(job)], self._around)
        return {
            job.id: why(job, self._facts(job, ahead.get(job.id, 0), held.get(job.id)))
            for job in jobs
        }

    def _is_due(self, job: Job) -> bool:
        return job.state is State.QUEUED and not job.reserved and job.run_at <= self._around.now

    def _facts(self, job: Job, ahead: int, held: KeyHold | None) -> Facts:
        around = self._around
        if job.hold & Hold.ORDER:
            return Facts(now=around.now, head=self._head(job))
        if job.hold & Hold.AFTER or not self._is_due(job):
            return Facts(now=around.now)
        cap = around.caps.get(job.tenant)
        running = 0 if cap is None else self._running_of(job.tenant)
        return due_facts(job, around, ahead, running, held)

    def _head(self, job: Job) -> tuple[str, State] | None:
        name = job.tenant, job.ordering_key
        if name not in self._heads:
            self._heads[name] = self._store.queues.head(job)
        return self._heads[name]

    def _running_of(self, tenant: str) -> int:
        if tenant not in self._running:
            self._running[tenant] = self._store.queues.running(tenant)
        return self._running[tenant]
