"""The small stores beside the jobs: queues, ordering keys, steps, locks, records, names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from tenure.core.job import Job, Placement, State
from tenure.core.lease import Lease

COUNTED_AT_MOST = 20_000
HELD_COUNTED_AT_MOST = 10_000
QUEUES_AT_MOST = 200
KINDS_AT_MOST = 5_000
PAGE = 500


@dataclass(frozen=True, slots=True)
class HeldLock:
    """A named lease with a fence."""

    name: str
    owner: str
    fence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Depth:
    """Open jobs of one queue, kind and state."""

    queue: str
    kind: str
    state: State
    jobs: int
    oldest_run_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Open jobs of one queue. Each number is counted up to COUNTED_AT_MOST."""

    queue: str
    ready: int = 0
    due: int = 0
    held: int = 0
    running: int = 0
    oldest_run_at: datetime | None = None

    @property
    def queued(self) -> int:
        """All jobs that wait: for a worker, for their time, or for other jobs."""
        return self.ready + self.held

    @property
    def at_least(self) -> bool:
        """Whether counting has stopped at a bound."""
        return self.ready >= COUNTED_AT_MOST or max(self.held, self.running) >= HELD_COUNTED_AT_MOST


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantLoad:
    """Open jobs of one tenant. `held` wait for a limit or for other jobs."""

    tenant: str
    queued: int = 0
    held: int = 0
    running: int = 0
    at_least: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueState:
    """A queue that was paused or resumed at least once."""

    name: str
    paused: bool
    since: datetime | None
    by: str | None


class QueueStore(Protocol):
    """Queues as operators see them."""

    def pause(self, name: str, actor: str) -> None:
        """No worker claims its jobs until it is resumed."""
        ...

    def resume(self, name: str, actor: str) -> None:
        """Claim from it again."""
        ...

    def list(self) -> Sequence[QueueState]:
        """Queues that were ever paused."""
        ...

    def depths(self) -> Sequence[Depth]:
        """Open jobs by queue, kind and state."""
        ...

    def kinds(self) -> Sequence[Depth]:
        """Jobs that may run by queue and kind, of the first KINDS_AT_MOST of each queue."""
        ...

    def loads(self) -> Sequence[Load]:
        """Open jobs by queue. The cost is bounded, so it may be asked often."""
        ...

    def overdue(self, grace_seconds: float) -> int:
        """Running jobs whose lease ran out longer ago than this: a worker should have noticed."""
        ...

    def ahead(self, job: Job) -> int:
        """Due jobs that come before it in its queue, counted up to a small bound."""
        ...

    def ahead_of(self, jobs: Sequence[Job]) -> Mapping[str, int]:
        """The same for the due jobs of a page, by id; a few statements for all of them."""
        ...

    def tenants(self) -> Sequence[TenantLoad]:
        """Tenants with open jobs, counted up to COUNTED_AT_MOST."""
        ...

    def head(self, job: Job) -> tuple[str, State] | None:
        """The job at the head of its ordering key."""
        ...

    def canceled(self, job_ids: Sequence[str]) -> frozenset[str]:
        """Those of these running jobs that are asked to stop."""
        ...

    def running(self, tenant: str) -> int:
        """How many jobs of a tenant run under live leases."""
        ...

    def place(self, handlers: Mapping[str, Placement]) -> int:
        """Apply handlers' placements to waiting jobs that were added before their handler was
        known, where the caller left them open. One bounded chunk; answers how many.
        """
        ...

    def lift(self, queue: str, seconds: float) -> int:
        """Raise jobs that have been due for so long by one step of priority, once (8). One bounded
        part of the queue; answers how many.
        """
        ...


class LockStore(Protocol):
    """Named locks on any database: a lock is a leased row, never an open transaction."""

    def acquire(self, name: str, owner: str, seconds: float) -> HeldLock | None:
        """The lock, unless another owner holds it now."""
        ...

    def renew(self, lock: HeldLock, seconds: float) -> bool:
        """Whether it is still held."""
        ...

    def release(self, lock: HeldLock) -> bool:
        """Give it back; False if it was lost before."""
        ...

    def list(self) -> Sequence[HeldLock]:
        """Those held now."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Small data under a name, with an optimistic version."""

    collection: str
    name: str
    data: dict[str, Any] = field(default_factory=dict)
    version: int = 0
    updated_at: datetime | None = None


class RecordStore(Protocol):
    """Small records: workers, schedules, limits, subscriptions."""

    def put(self, record: Record, tx: Any = None) -> Record:
        """Version 0 creates; any other must be the present version, else VersionConflict."""
        ...

    def upsert(self, record: Record, tx: Any = None) -> None:
        """Write whatever the version is: the last writer wins."""
        ...

    def find(self, collection: str, name: str) -> Record | None:
        """One record, or None."""
        ...

    def find_all(self, collection: str, names: Sequence[str]) -> Sequence[Record]:
        """Those of these names that exist, in any order."""
        found = (self.find(collection, name) for name in names)
        return [record for record in found if record is not None]

    def list(self, collection: str, after: str = "", limit: int = PAGE) -> Sequence[Record]:
        """At most `limit` records behind `after`, in order of name."""
        ...

    def remove(self, collection: str, name: str, tx: Any = None) -> bool:
        """Whether there was one."""
        ...


def every(records: RecordStore, collection: str) -> Iterator[Record]:
    """All records of a collection in order of name, read page by page."""
    after: str | None = ""
    while after is not None:
        page = records.list(collection, after, PAGE)
        yield from page
        after = page[-1].name if len(page) == PAGE else None


class KeyStore(Protocol):
    """Names that can be taken once within a window: unique keys without a job (5)."""

    def take(self, tenant: str, scope: str, name: str, seconds: float, tx: Any) -> bool:
        """Take a name for so many seconds, if the transaction commits; False if it is taken.

        If another transaction has just taken it, this waits until that one has ended.
        """
        ...

    async def take_async(self, tenant: str, scope: str, name: str, seconds: float, tx: Any) -> bool:
        """The same in an async foreign transaction."""
        ...


OrderName = tuple[str, str]
"""A tenant and an ordering key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """Ordering keys that have stopped, among the jobs looked at; `next` continues behind those."""

    orders: tuple[OrderName, ...] = ()
    next: str | None = None


class OrderStore(Protocol):
    """Ordering keys that have stopped: jobs wait though no job is ahead of them (8)."""

    def stopped(self, limit: int, after: str | None = None) -> Stopped:
        """Look at so many held jobs, in the order of ids."""
        ...

    def release(self, order: OrderName) -> bool:
        """Let the first waiting job run; False if another one is ahead of it by now."""
        ...


class StepStore(Protocol):
    """Finished steps of a job: kept over its retries, removed with it."""

    def remember(self, lease: Lease, name: str, result: str) -> bool:
        """Write a step's result, as JSON text, under the fence (3); False if the lease is lost."""
        ...

    def recall(self, job_id: str) -> Mapping[str, str]:
        """Results of earlier runs, by name."""
        ...
