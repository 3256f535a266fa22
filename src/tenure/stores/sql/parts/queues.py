"""Queues on a SQL database: pauses, depths and loads, and what stands ahead of a job."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from tenure.core.job import Job, Placement, State
from tenure.core.rules.shares import Lane
from tenure.core.rules.why import MOST_AHEAD
from tenure.core.timing.clock import from_micros, seconds_to_micros, to_micros
from tenure.stores.contract.parts import (
    COUNTED_AT_MOST,
    HELD_COUNTED_AT_MOST,
    KINDS_AT_MOST,
    QUEUES_AT_MOST,
    Depth,
    Load,
    QueueState,
    TenantLoad,
)
from tenure.stores.sql.claim import ageing
from tenure.stores.sql.database import Database
from tenure.stores.sql.ids import row_id
from tenure.stores.sql.read.job_rows import moment
from tenure.stores.sql.read.lines import ahead_of, tenant_loads
from tenure.stores.sql.rows import STATES
from tenure.stores.sql.statement import Statement, one
from tenure.stores.sql.write.placement import place


class QueueCounts:
    """How much is open, and what stands ahead of a job. Reads only."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def depths(self) -> Sequence[Depth]:
        """Open jobs by queue, kind and state."""
        return [
            Depth(
                queue=queue,
                kind=kind,
                state=STATES[state],
                jobs=jobs,
                oldest_run_at=from_micros(oldest),
            )
            for queue, kind, state, jobs, oldest in self._database.read(Statement("depths"))
        ]

    def kinds(self) -> Sequence[Depth]:
        """Jobs that may run by queue and kind, at a bounded cost."""
        return [
            Depth(
                queue=queue,
                kind=kind,
                state=State.QUEUED,
                jobs=jobs,
                oldest_run_at=from_micros(oldest),
            )
            for queue in self._names()
            for kind, jobs, oldest in self._database.read(
                Statement("queue_kinds", {"queue": queue, "limit": KINDS_AT_MOST})
            )
        ]

    def loads(self) -> Sequence[Load]:
        """Open jobs queue by queue, so that each statement stays small."""
        found = {name: self._load(name) for name in self._names()}
        limit = {"limit": HELD_COUNTED_AT_MOST}
        for queue, held in self._database.read(Statement("held_load", limit)):
            found[queue] = replace(found.get(queue, Load(queue=queue)), held=held)
        for queue, running in self._database.read(Statement("running_load", limit)):
            found[queue] = replace(found.get(queue, Load(queue=queue)), running=running)
        return [found[queue] for queue in sorted(found)]

    def _names(self) -> Iterator[str]:
        after = ""
        for _ in range(QUEUES_AT_MOST):
            found = self._database.read(Statement("next_queue", {"after": after}))
            if not found:
                return
            [(after,)] = found
            yield after

    def _load(self, queue: str) -> Load:
        values = {"queue": queue, "limit": COUNTED_AT_MOST}
        [(ready, due, oldest)] = self._database.read(Statement("queue_load", values))
        return Load(queue=queue, ready=ready, due=due, oldest_run_at=moment(oldest))

    def overdue(self, grace_seconds: float) -> int:
        """Running jobs whose lease ran out longer ago than this."""
        values = {"grace": seconds_to_micros(grace_seconds)}
        [(jobs, _)] = self._database.read(Statement("stuck_jobs", values))
        return int(jobs)

    def running(self, tenant: str) -> int:
        """Jobs of a tenant under live leases."""
        found = self._database.read(Statement("running_of_tenants", {"tenants": [tenant]}))
        return sum(int(jobs) for _, jobs in found)

    def ahead(self, job: Job) -> int:
        """Due jobs that come before this one, counted up to MOST_AHEAD + 1."""
        values = {
            "queue": job.queue,
            "priority": job.priority,
            "tenant": job.tenant,
            "run_at": to_micros(job.run_at),
            "id": row_id(job.id) or 0,
            "limit": MOST_AHEAD + 1,
        }
        [(jobs,)] = self._database.read(Statement("jobs_ahead", values))
        return int(jobs)

    def ahead_of(self, jobs: Sequence[Job]) -> Mapping[str, int]:
        """Due jobs that come before each of these."""
        return ahead_of(self._database.read, jobs)

    def tenants(self) -> Sequence[TenantLoad]:
        """Tenants with open jobs."""
        return tenant_loads(self._database.read)

    def head(self, job: Job) -> tuple[str, State] | None:
        """The job at the head of this one's ordering key: it runs, is next, or blocks the key."""
        values = {"tenant": job.tenant, "ordering_key": job.ordering_key or ""}
        for number, state in self._database.read(Statement("order_head", values)):
            return str(number), STATES[state]
        return None

    def canceled(self, job_ids: Sequence[str]) -> frozenset[str]:
        """Those of these running jobs that are asked to stop."""
        numbers = sorted(number for one in job_ids if (number := row_id(one)) is not None)
        if not numbers:
            return frozenset()
        found = self._database.read(Statement("cancel_requests", {"ids": numbers}))
        return frozenset(str(number) for (number,) in found)


class SqlQueues(QueueCounts):
    """See `tenure.stores.contract.QueueStore`. `changed(name, paused)` is called when a queue was
    paused, resumed or given jobs of another, `revived(lanes)` for the lanes of lifted jobs.
    """

    def __init__(
        self,
        database: Database,
        changed: Callable[[str, bool], None],
        revived: Callable[[Sequence[Lane]], None],
    ) -> None:
        super().__init__(database)
        self._changed = changed
        self._revived = revived
        self._walks: dict[str, ageing.Walk] = {}

    def pause(self, name: str, actor: str) -> None:
        """Stop claiming from it."""
        self._set(name, True, actor)

    def resume(self, name: str, actor: str) -> None:
        """Claim from it again."""
        self._set(name, False, actor)

    def _set(self, name: str, paused: bool, actor: str) -> None:
        values = {"name": name, "paused": int(paused), "actor": actor}
        self._database.run(partial(one, Statement("pause_queue", values)))
        self._changed(name, paused)

    def list(self) -> Sequence[QueueState]:
        """Queues that were ever paused."""
        return [
            QueueState(name=name, paused=bool(paused), since=moment(since), by=by)
            for name, paused, since, by in self._database.read(Statement("list_queues"))
        ]

    def place(self, handlers: Mapping[str, Placement]) -> int:
        """Apply placements to jobs that were added before their handler was known."""
        queues = self._database.run(partial(place, handlers)) if handlers else []
        for queue in set(queues):
            self._changed(queue, False)
        return len(queues)

    def lift(self, queue: str, seconds: float) -> int:
        """Age one part of a queue."""
        walk = self._walks.setdefault(queue, ageing.Walk())
        lanes = self._database.run(partial(ageing.lift, queue, seconds, walk))
        self._revived(lanes)
        return len(lanes)
