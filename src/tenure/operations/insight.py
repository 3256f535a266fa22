"""Reads jobs, histories, queues and workers, for the API, the page and the commands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from tenure.core.filter import JobFilter
from tenure.core.job import DEAD_LETTERS, Job, State
from tenure.core.page import MAX_PAGE, Page
from tenure.core.rules.holds import KeyHold
from tenure.core.rules.order import Hold
from tenure.core.rules.shard import Shard
from tenure.core.rules.why import Facts, Why, why
from tenure.operations.pauses import Pause, pauses
from tenure.operations.tenants import Tenants
from tenure.stores.contract import Attempt, Capability, LogLine, Store
from tenure.stores.contract.parts import Depth, Load, Record, every

WORKERS = "workers"
WORKER_SILENT_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueView:
    """The state of a queue."""

    name: str
    queued: int
    running: int
    oldest_run_at: datetime | None
    paused: bool
    due: int | None = None
    held: int | None = None
    slots: int = 0
    paused_by: str | None = None
    paused_at: datetime | None = None
    paused_reason: str | None = None
    at_least: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerView:
    """A worker process, as it last reported itself."""

    id: str
    host: str
    pid: int
    kinds: tuple[str, ...]
    queues: Mapping[str, int]
    running: int
    started_at: str
    seen_at: datetime
    silent_seconds: float
    listening: bool = False
    shard: Shard | None = None
    app: str = ""
    release: str = ""
    queue_options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def alive(self) -> bool:
        """Whether it reported within the last minute."""
        return self.silent_seconds < WORKER_SILENT_SECONDS

    def serves(self, tenant: str) -> bool:
        """Whether it takes this tenant's jobs."""
        return self.shard is None or self.shard.has(tenant)


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What decides about every waiting job: live workers, pauses and caps at one moment."""

    now: datetime
    alive: Sequence[WorkerView]
    paused_by: Mapping[str, str]
    caps: Mapping[str, int]
    holds: Mapping[str, KeyHold] = field(default_factory=dict)

    def later(self, seconds: float) -> Around:
        """The same facts at a later time."""
        return replace(self, now=self.now + timedelta(seconds=seconds))


class Insight:
    """Answers questions about all jobs of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def page(
        self, where: JobFilter | None = None, *, limit: int = 50, after: str | None = None
    ) -> Page[Job]:
        """Jobs, newest first, without payloads."""
        return self._store.jobs.page(where or JobFilter(), limit, after)

    def stream(self, where: JobFilter | None = None) -> Iterator[Job]:
        """All jobs that match, read page by page."""
        after: str | None = None
        while True:
            page = self.page(where, limit=MAX_PAGE, after=after)
            yield from page.rows
            after = page.next
            if after is None:
                return

    def counts(self, where: JobFilter | None = None) -> Mapping[State, int]:
        """How many jobs are in each state."""
        return self._store.jobs.count(where or JobFilter())

    def dead_letters(self, *, limit: int = 50, after: str | None = None) -> Page[Job]:
        """Failed and dead jobs, newest first."""
        return self.page(JobFilter(states=DEAD_LETTERS), limit=limit, after=after)

    def history(self, job: Job) -> list[Attempt]:
        """Every run and operator move, oldest first."""
        told = list(self._store.jobs.history(job.id))
        if job.state is State.SUCCEEDED and job.finished_at is not None:
            told.append(
                Attempt(
                    fence=job.fence,
                    attempt=job.attempt,
                    entry="succeeded",
                    worker=job.lease_owner,
                    started_at=job.started_at,
                    finished_at=job.finished_at,
                )
            )
        return told

    def logs(self, job_id: str, limit: int = 500, after: str | None = None) -> Sequence[LogLine]:
        """The job's log lines, oldest first; `after` is the id of the last line seen."""
        return self._store.jobs.logs(job_id, limit, after)

    def depths(self) -> Sequence[Depth]:
        """Open jobs by queue, kind and state."""
        return self._store.queues.depths()

    def loads(self) -> Sequence[Load]:
        """Open jobs by queue, counted up to a bound, so that it can be asked often."""
        return self._store.queues.loads()

    def queues(self, depths: Sequence[Depth] | None = None) -> list[QueueView]:
        """Every queue that has open jobs or is paused; `depths` reuses counts."""
        depths = self.depths() if depths is None else depths
        known, paused = {one.name for one in self._store.queues.list()}, pauses(self._store)
        names = sorted({depth.queue for depth in depths} | known)
        return [_queue(name, depths, paused.get(name)) for name in names]

    def workers(self) -> list[WorkerView]:
        """Worker processes, live and silent."""
        return _workers(self._store, self._store.now())

    def orphans(self) -> list[Depth]:
        """Jobs that may run and whose kind no live worker takes from their queue. Nobody claims
        them, so they are among the first of a queue, and only those are looked at.
        """
        taken = {
            (queue, kind)
            for worker in self.workers()
            if worker.alive
            for queue in worker.queues
            for kind in worker.kinds
        }
        waiting = self._store.queues.kinds()
        return [depth for depth in waiting if (depth.queue, depth.kind) not in taken]

    def around(self) -> Around:
        """The facts that `why` needs, to be shared by many calls."""
        now = self._store.now()
        return Around(
            now=now,
            alive=[worker for worker in _workers(self._store, now) if worker.alive],
            paused_by={name: one.text for name, one in pauses(self._store).items()},
            caps=Tenants(self._store).caps(),
            holds=_holds(self._store),
        )

    def why(self, job: Job, around: Around | None = None) -> Why:
        """The one reason why a job is not running."""
        if job.state.final and job.finished_at is not None:
            return why(job, Facts(now=job.finished_at))
        now = around.now if around else self._store.now()
        held = job.hold & ~Hold.LIMIT
        if job.state is not State.QUEUED or held or job.run_at > now:
            head = self._store.queues.head(job) if job.hold & Hold.ORDER else None
            return why(job, Facts(now=now, head=head))
        return why(job, _facts(self._store, job, around or self.around()))

    def overdue(self, grace_seconds: float) -> int:
        """The number of running jobs whose lease ended more than `seconds` ago."""
        return self._store.queues.overdue(grace_seconds)


def _workers(store: Store, now: datetime) -> list[WorkerView]:
    return [_worker(record, now) for record in every(store.records, WORKERS)]


def _facts(store: Store, job: Job, around: Around) -> Facts:
    """The facts about a due job: which workers could take it, and what is ahead of it."""
    capped = job.tenant in around.caps
    running = store.queues.running(job.tenant) if capped else 0
    ahead = 0 if job.hold else store.queues.ahead(job)
    return due_facts(job, around, ahead, running, holds_of(store, [job], around).get(job.id))


def due_facts(job: Job, around: Around, ahead: int, running: int, held: KeyHold | None) -> Facts:
    """The facts about a due job, with what the store has counted."""
    able = [one for one in around.alive if job.queue in one.queues and job.kind in one.kinds]
    return Facts(
        now=around.now,
        paused_by=around.paused_by.get(job.queue),
        held=held,
        workers=len(around.alive),
        knows_kind=bool(able),
        serves_tenant=any(one.serves(job.tenant) for one in able),
        ahead=ahead,
        cap=around.caps.get(job.tenant),
        running=running,
    )


def _holds(store: Store) -> dict[str, KeyHold]:
    if Capability.LIMITS not in store.capabilities:
        return {}
    return {hold.gate: hold for hold in store.gates.holds()}


def holds_of(store: Store, jobs: Sequence[Job], around: Around) -> dict[str, KeyHold]:
    """By id: the hold of a job's key or of its kind, the one that ends last."""
    by_kind: dict[str, list[KeyHold]] = {}
    for one in around.holds.values():
        by_kind.setdefault(one.kind, []).append(one)
    concerned = [job for job in jobs if job.kind in by_kind]
    gates = store.gates.gates_of([job.id for job in concerned]) if concerned else {}
    found: dict[str, KeyHold] = {}
    for job in concerned:
        mine = [one for one in by_kind[job.kind] if one.gate in (gates.get(job.id), job.kind)]
        if mine:
            found[job.id] = max(mine, key=lambda one: one.until)
    return found


def _queue(name: str, depths: Sequence[Depth], pause: Pause | None) -> QueueView:
    mine = [depth for depth in depths if depth.queue == name]
    waiting = [depth for depth in mine if depth.state is State.QUEUED]
    said = pause or Pause(None, None, None)
    return QueueView(
        name=name,
        queued=sum(depth.jobs for depth in waiting),
        running=sum(depth.jobs for depth in mine if depth.state is State.RUNNING),
        oldest_run_at=min((depth.oldest_run_at for depth in waiting), default=None),
        paused=pause is not None,
        paused_by=said.by,
        paused_at=said.at,
        paused_reason=said.reason,
    )


def _worker(record: Record, now: datetime) -> WorkerView:
    seen = record.updated_at or now
    return WorkerView(
        id=record.name,
        host=record.data["host"],
        pid=record.data["pid"],
        kinds=tuple(record.data["kinds"]),
        queues=record.data["queues"],
        running=record.data["running"],
        started_at=record.data["started_at"],
        seen_at=seen,
        silent_seconds=(now - seen).total_seconds(),
        listening=record.data.get("listening", False),
        shard=Shard(*shard) if (shard := record.data.get("shard")) else None,
        app=record.data.get("app", ""),
        release=record.data.get("release", ""),
        queue_options=record.data.get("queue_options", {}),
    )
