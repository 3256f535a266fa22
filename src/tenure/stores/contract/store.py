"""What a store promises. The numbers are those of `docs/store-contract.md` and of the suite.

Nothing here speaks SQL: a store that keeps its jobs elsewhere fits behind it, and says by
`capabilities` what it cannot do.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

from tenure.core.filter import JobFilter
from tenure.core.job import Job, NewJob, State
from tenure.core.lease import ClaimedJob, Lease
from tenure.core.page import Page
from tenure.core.rules.limits import NO_LIMITS, Limits
from tenure.core.rules.retention import Purged
from tenure.core.rules.shard import Shard
from tenure.core.rules.shares import Weights
from tenure.core.settlement import Settlement
from tenure.stores.contract.parts import (
    KeyStore,
    LockStore,
    OrderStore,
    QueueStore,
    RecordStore,
    StepStore,
)
from tenure.wakeups.due_jobs import Wakeups


class Capability(StrEnum):
    """What not every store can do."""

    TRANSACTIONS = "transactions"
    LOCKS = "locks"
    RECORDS = "records"
    HISTORY = "history"
    UNIQUE_KEYS = "unique_keys"
    PAUSE = "pause"
    WAKE_UPS = "wake_ups"


class Added(NamedTuple):
    """The answer to one NewJob. `created` is False where its unique key named a job already."""

    id: str
    created: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRequest:
    """Who asks, for which kinds, how many slots are free in each queue, what tenants weigh, and
    what must not be exceeded in the whole fleet.

    `woken` names queues that are said to have got due jobs: a hint where to look first. A
    `thorough` claim looks everywhere, whatever that costs; another may put a dear look off. With a
    `shard` only its tenants' jobs are taken. Jobs of the queues in `reserving` have not begun when
    they are claimed. In `unfair` queues tenants do not share: within a priority the oldest goes
    first, whose ever it is.
    """

    owner: str
    kinds: Collection[str]
    slots: Mapping[str, int]
    lease_seconds: float
    weights: Weights = field(default_factory=dict)
    limits: Limits = NO_LIMITS
    woken: Collection[str] = ()
    thorough: bool = False
    shard: Shard | None = None
    reserving: Collection[str] = ()
    unfair: Collection[str] = ()

    def may_take(self, tenant: str) -> bool:
        """Whether this tenant's jobs are for us."""
        return self.shard is None or self.shard.has(tenant)


@dataclass(frozen=True, slots=True)
class Claim:
    """What a claim brought, and what it ended on the way: abandoned jobs, expired ones.

    `released` are abandoned jobs that went back to their queues, `look_in` says in how many seconds
    there is likely to be more, where that is known.
    """

    jobs: Sequence[ClaimedJob] = ()
    ended: Sequence[tuple[str, State, str]] = ()
    released: Mapping[str, str] = field(default_factory=dict)
    look_in: float | None = None


class Written(NamedTuple):
    """Settlements that were applied, and those that somebody else's transaction has locked: they
    are unchanged and worth another try. What is in neither was refused.
    """

    applied: frozenset[str] = frozenset()
    locked: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Extension:
    """The answer to a heartbeat, by job id."""

    lost: frozenset[str] = frozenset()
    cancel: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line that a handler wrote about its job. One that is stored has an id, which grows."""

    message: str
    level: str = "info"
    at: datetime | None = None
    id: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """News of a running job, written under its fence; or, of one that was claimed ahead, how many
    seconds ago it began; or, of a suspect, that it begins with nothing beside it.
    """

    lease: Lease
    progress: float | None = None
    note: str | None = None
    lines: Sequence[LogLine] = ()
    begun_ago: float | None = None
    alone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One line of a job's history: a run that did not simply succeed, or an operator's move."""

    fence: int
    attempt: int
    entry: str
    worker: str | None
    started_at: datetime | None
    finished_at: datetime
    failure: dict[str, Any] | None = None

    @property
    def duration_seconds(self) -> float | None:
        """How long the run took, where it ran."""
        return (
            None
            if self.started_at is None
            else (self.finished_at - self.started_at).total_seconds()
        )


class Move(StrEnum):
    """What an operator may do to jobs."""

    CANCEL = "cancel"
    RETRY = "retry"
    REPRIORITISE = "reprioritise"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """An operator's move, and who makes it."""

    move: Move
    actor: str = "operator"
    priority: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """How many jobs of this chunk matched, were changed, or could not be; `next` goes on."""

    matched: int = 0
    changed: int = 0
    refused: Sequence[str] = ()
    next: str | None = None


class Transaction(Protocol):
    """An open transaction of the store. `connection` is the driver's own."""

    connection: Any

    def execute(self, sql: str, parameters: Any = (), /, **named: Any) -> Any:
        """Run the caller's own statement in it, in the driver's parameter style or with `:name`."""
        ...


class JobStore(Protocol):
    """Jobs. Every write takes an optional transaction; times are the store's own clock."""

    def add(
        self, jobs: Sequence[NewJob], tx: Any = None, *, notify: str | None = None
    ) -> list[Added]:
        """All or none (1, 5, 6). `tx` may be a Transaction or a driver's own open connection.

        Workers are told after the commit, where that can be known; with `notify` by `tx` itself.
        """
        ...

    async def add_async(
        self, jobs: Sequence[NewJob], tx: Any = None, *, notify: str | None = None
    ) -> list[Added]:
        """The same from a coroutine: by itself, or in a transaction of an async driver."""
        ...

    def claim(self, request: ClaimRequest) -> Claim:
        """Due jobs of known kinds within the slots, best first, each under one live lease (2, 4,
        7, 8, 11, 14). Leases that ran out go back to their queues first, or are buried (4).
        It may bring less than there is; what is due is found within a second or so.
        """
        ...

    def exchange(
        self,
        settlements: Sequence[Settlement],
        reports: Sequence[Report],
        request: ClaimRequest | None,
        *,
        careful: bool = False,
    ) -> tuple[Written, Claim]:
        """Report, settle, then claim, in one transaction where the store has them.

        Settles without waiting for locks of other transactions (18). `careful`: some of them are
        known to be in the way. Raises ContentRefused where the store refuses what a row says;
        whatever else it raises may be over at the next try.
        """
        ...

    def extend(self, leases: Sequence[Lease], seconds: float) -> Extension:
        """Prolongs what is still held, says what is lost and what is to be cancelled (2, 3)."""
        ...

    def report(self, reports: Sequence[Report], tx: Any = None) -> frozenset[str]:
        """Progress and log lines under the fence; answers the ids that were refused (3)."""
        ...

    def settle(self, settlements: Sequence[Settlement], tx: Any = None) -> frozenset[str]:
        """Writes only where the fence still matches; answers the ids that were applied (3, 6)."""
        ...

    async def settle_async(self, settlements: Sequence[Settlement], tx: Any) -> frozenset[str]:
        """The same in a transaction of an async driver."""
        ...

    def get(self, job_id: str) -> Job | None:
        """One job, with payload and result."""
        ...

    def page(self, where: JobFilter, limit: int = 50, after: str | None = None) -> Page[Job]:
        """Newest first, without payloads; `after` is a cursor."""
        ...

    def count(self, where: JobFilter) -> Mapping[State, int]:
        """How many match, by state."""
        ...

    def change(
        self, where: JobFilter, change_: Change, after: str | None = None, limit: int = 500
    ) -> Changed:
        """One bounded chunk of an operator's move; never silently touches a running job."""
        ...

    def purge(
        self, where: JobFilter, before: datetime, limit: int = 500, after: str | None = None
    ) -> Purged:
        """One bounded chunk of finished jobs and of keys whose window is over; failed and dead jobs
        stay unless the filter names them.
        """
        ...

    def history(self, job_id: str) -> Sequence[Attempt]:
        """What happened to it, oldest first."""
        ...

    def logs(self, job_id: str, limit: int = 500, after: str | None = None) -> Sequence[LogLine]:
        """What its handlers said, oldest first; `after` is the id of the last line seen."""
        ...


class Parts(Protocol):
    """What a store is made of."""

    @property
    def wakes(self) -> Wakeups:
        """Who is told of due jobs and of ended ones; between processes only with the capability
        `wake_ups`.
        """
        ...

    @property
    def jobs(self) -> JobStore:
        """Jobs."""
        ...

    @property
    def queues(self) -> QueueStore:
        """Queues."""
        ...

    @property
    def locks(self) -> LockStore:
        """Locks."""
        ...

    @property
    def records(self) -> RecordStore:
        """Small records."""
        ...

    @property
    def keys(self) -> KeyStore:
        """Names that count once."""
        ...

    @property
    def orders(self) -> OrderStore:
        """Ordering keys."""
        ...

    @property
    def steps(self) -> StepStore:
        """Steps of jobs."""
        ...


class Store(Parts, Protocol):
    """What `open_store` gives."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What it can do."""
        ...

    @property
    def fused(self) -> bool:
        """Whether `jobs.exchange` serves better than settling and claiming side by side."""
        ...

    def now(self) -> datetime:
        """The store's clock."""
        ...

    def look(self, ids: Sequence[str]) -> dict[str, Job]:
        """Many jobs at once, with payload and result, by id; those that there are."""
        ...

    def transaction(self) -> AbstractContextManager[Any]:
        """A transaction of our own."""
        ...

    def adopt(self, tx: Any) -> AbstractContextManager[Any]:
        """The caller's own open connection or session as a transaction of the store."""
        ...

    def is_async(self, tx: Any) -> bool:
        """Whether this connection or session must be awaited."""
        ...

    def measure(self, hear: Callable[[str, float], None] | None) -> None:
        """Tell of each statement by name, of COMMIT and of CONNECTION, how many seconds it took."""
        ...

    def close(self) -> None:
        """Close every connection of this process."""
        ...
