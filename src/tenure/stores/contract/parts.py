"""What stands beside the jobs of a store: queues, named locks, small records, their steps."""

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
    """Open jobs of one queue, counted as far as COUNTED_AT_MOST and no further."""

    queue: str
    ready: int = 0
    due: int = 0
    held: int = 0
    running: int = 0
    oldest_run_at: datetime | None = None

    @property
    def queued(self) -> int:
        """All that wait: for a worker, for their time, or for others."""
        return self.ready + self.held


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueState:
    """A queue that was paused or resumed at some time."""

    name: str
    paused: bool
    since: datetime | None
    by: str | None


class QueueStore(Protocol):
    """Queues as operators see them."""

    def pause(self, name: str, actor: str) -> None:
        """No job of it is claimed until resumed, by any worker."""
        ...

    def resume(self, name: str, actor: str) -> None:
        """Claim from it again."""
        ...

    def list(self) -> Sequence[QueueState]:
        """Those that were ever paused."""
        ...

    def depths(self) -> Sequence[Depth]:
        """How much is open, by queue, kind and state."""
        ...

    def loads(self) -> Sequence[Load]:
        """How much is open, by queue; bounded, however much that is: for those who ask often."""
        ...

    def overdue(self, grace_seconds: float) -> int:
        """Running jobs whose lease ran out so long ago that some worker should have noticed."""
        ...

    def ahead(self, job: Job) -> int:
        """Due jobs that come before it in its queue; no more are counted than a few."""
        ...

    def head(self, job: Job) -> tuple[str, State] | None:
        """The job at the head of its ordering key."""
        ...

    def canceled(self, job_ids: Sequence[str]) -> frozenset[str]:
        """Which of these running jobs are asked to stop."""
        ...

    def running(self, tenant: str) -> int:
        """How many jobs of a tenant run, under leases that are alive."""
        ...

    def place(self, handlers: Mapping[str, Placement]) -> int:
        """One bounded chunk of waiting jobs that were added without knowing their handler get what
        it says, where the caller said nothing; how many.
        """
        ...

    def lift(self, queue: str, seconds: float) -> int:
        """One bounded part of a queue: what has been due for so long goes up by one step of
        priority, once (8); how many did.
        """
        ...


class LockStore(Protocol):
    """Singletons on any database: a lock is a leased row, never an open transaction."""

    def acquire(self, name: str, owner: str, seconds: float) -> HeldLock | None:
        """The lock, unless somebody else holds it now."""
        ...

    def renew(self, lock: HeldLock, seconds: float) -> bool:
        """Whether it is still held."""
        ...

    def release(self, lock: HeldLock) -> bool:
        """Give it back; False when it was lost before."""
        ...

    def list(self) -> Sequence[HeldLock]:
        """Those held now."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A small typed thing with an optimistic version."""

    collection: str
    name: str
    data: dict[str, Any] = field(default_factory=dict)
    version: int = 0
    updated_at: datetime | None = None


class RecordStore(Protocol):
    """Small records: workers, queues, schedules, endpoints."""

    def put(self, record: Record, tx: Any = None) -> Record:
        """Version 0 creates; another version must be the present one, else VersionConflict."""
        ...

    def upsert(self, record: Record, tx: Any = None) -> None:
        """Write whatever the version: the last writer wins."""
        ...

    def find(self, collection: str, name: str) -> Record | None:
        """One record."""
        ...

    def list(self, collection: str, after: str = "", limit: int = PAGE) -> Sequence[Record]:
        """At most `limit`, in order of name, from behind `after`."""
        ...

    def remove(self, collection: str, name: str, tx: Any = None) -> bool:
        """Whether there was one."""
        ...


def every(records: RecordStore, collection: str) -> Iterator[Record]:
    """All of a collection in order of name, however many: page by page."""
    after: str | None = ""
    while after is not None:
        page = records.list(collection, after, PAGE)
        yield from page
        after = page[-1].name if len(page) == PAGE else None


class KeyStore(Protocol):
    """Names that count once within a window: unique keys without a job (5)."""

    def take(self, tenant: str, scope: str, name: str, seconds: float, tx: Any) -> bool:
        """Whether it was free, and is now taken for so long, if the transaction commits.

        Somebody who has just taken it is waited for until that transaction has ended.
        """
        ...

    async def take_async(self, tenant: str, scope: str, name: str, seconds: float, tx: Any) -> bool:
        """The same in the caller's async transaction."""
        ...


OrderName = tuple[str, str]
"""A tenant and an ordering key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """Ordering keys that have stopped, among the jobs looked at; `next` goes on behind those."""

    orders: tuple[OrderName, ...] = ()
    next: str | None = None


class OrderStore(Protocol):
    """Ordering keys with jobs that wait while nobody is ahead of them (8)."""

    def stopped(self, limit: int, after: str | None = None) -> Stopped:
        """Looks at so many held jobs, in the order of ids."""
        ...

    def release(self, order: OrderName) -> bool:
        """Let the first of them run; False where somebody is ahead of it by now."""
        ...


class StepStore(Protocol):
    """Steps of a job that are done: kept over its retries, removed with it."""

    def remember(self, lease: Lease, name: str, result: str) -> bool:
        """The step's result as JSON text, under the fence (3); False where the lease is lost."""
        ...

    def recall(self, job_id: str) -> Mapping[str, str]:
        """What earlier runs have done, by name."""
        ...
