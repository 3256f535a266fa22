"""A store whose jobs are kept in one place and everything else in another.

store = combine(jobs=SalesforceJobs(...), others=open_store("postgresql://..."))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, TypeVar

from tenure.core.capability import Capability, CapabilityError
from tenure.core.job import Job, Placement, State
from tenure.stores.contract.endings import EndingStore
from tenure.stores.contract.gates import GateStore
from tenure.stores.contract.jobs import JobStore
from tenure.stores.contract.needs import guarded
from tenure.stores.contract.parts import (
    Depth,
    KeyStore,
    Load,
    LockStore,
    OrderName,
    OrderStore,
    QueueState,
    QueueStore,
    RecordStore,
    StepStore,
    Stopped,
    TenantLoad,
)
from tenure.stores.contract.rollups import RollupStore
from tenure.stores.contract.store import Store
from tenure.wakeups.due_jobs import Wakeups

T = TypeVar("T")
BESIDE_JOBS = frozenset(
    {Capability.LOCKS, Capability.RECORDS, Capability.NAMES, Capability.WAKE_UPS}
)
"""Abilities that do not touch jobs. All others are those of the jobs part."""
TOGETHER = frozenset({Capability.TRANSACTIONS, Capability.ASYNC, Capability.ENDINGS})
"""Abilities that need jobs and other rows in one transaction."""


def combine(*, jobs: JobStore, others: Store) -> Store:
    """Jobs of one store with the locks, records and names of another.

    A jobs part may have `queues`, `orders` and `steps` of its own, because they read or write jobs.
    The two share no transaction: what would need one raises CapabilityError.
    """
    return CombinedStore(jobs, others)


class CombinedStore:
    """See `tenure.stores.contract.Store`."""

    fused = False

    def __init__(self, jobs: JobStore, others: Store) -> None:
        self.name = jobs.name
        beside = others.capabilities & BESIDE_JOBS
        # A transaction of one database cannot hold rows of the other.
        own = jobs.capabilities - BESIDE_JOBS - TOGETHER
        self.capabilities = own | beside
        self.jobs = guarded(jobs)
        self.queues: QueueStore = getattr(jobs, "queues", None) or QueuesUnseen(jobs.name)
        self.orders: OrderStore = getattr(jobs, "orders", None) or NoOrders()
        self._others = others

    @property
    def steps(self) -> StepStore:
        """The jobs part's own: steps are written under the fence of a job."""
        found: StepStore = getattr(self.jobs, "steps", None)  # type: ignore[assignment]
        return self._having(Capability.STEPS, found)

    @property
    def endings(self) -> EndingStore:
        """Refused: a feature's rows are in the other store, which shares no transaction."""
        raise CapabilityError(Capability.ENDINGS, self.name)

    @property
    def gates(self) -> GateStore:
        """The jobs part's own: its claims heed them."""
        found: GateStore = getattr(self.jobs, "gates", None)  # type: ignore[assignment]
        return self._having(Capability.LIMITS, found)

    @property
    def rollups(self) -> RollupStore:
        """The jobs part's own: what has ended is counted where it is."""
        found: RollupStore = getattr(self.jobs, "rollups", None)  # type: ignore[assignment]
        return self._having(Capability.ROLLUPS, found)

    @property
    def locks(self) -> LockStore:
        """The other store's."""
        return self._having(Capability.LOCKS, self._others.locks)

    @property
    def records(self) -> RecordStore:
        """The other store's."""
        return self._having(Capability.RECORDS, self._others.records)

    @property
    def keys(self) -> KeyStore:
        """The other store's."""
        return self._having(Capability.NAMES, self._others.keys)

    @property
    def wakeups(self) -> Wakeups:
        """The other store's: a wake-up names queues and ids, wherever the jobs are."""
        return self._others.wakeups

    def _having(self, capability: Capability, part: T) -> T:
        if capability not in self.capabilities:
            raise CapabilityError(capability, self.name)
        return part

    def now(self) -> datetime:
        """The clock of the other store: schedules and records are judged by it."""
        return self._others.now()

    def transaction(self) -> AbstractContextManager[Any]:
        """Refused: the two stores share no transaction."""
        raise CapabilityError(Capability.TRANSACTIONS, self.name)

    def adopt(self, tx: Any) -> AbstractContextManager[Any]:
        """Refused, for the same reason."""
        raise CapabilityError(Capability.TRANSACTIONS, self.name)

    def is_async(self, tx: Any) -> bool:
        """As the other store sees it."""
        return self._others.is_async(tx)

    def measure(self, hear: Callable[[str, float], None] | None) -> None:
        """Report the statements of the other store."""
        self._others.measure(hear)

    def close(self) -> None:
        """Close the other store, and the jobs part if it can be closed."""
        getattr(self.jobs, "close", lambda: None)()
        self._others.close()


class CountsUnseen:
    """The counts of a jobs part that has none to show."""

    def __init__(self, store: str) -> None:
        self._store = store

    def _refuse(self, capability: Capability) -> CapabilityError:
        return CapabilityError(capability, self._store)

    def depths(self) -> Sequence[Depth]:
        """Refused."""
        raise self._refuse(Capability.COUNTS)

    def kinds(self) -> Sequence[Depth]:
        """Refused."""
        raise self._refuse(Capability.COUNTS)

    def loads(self) -> Sequence[Load]:
        """Refused."""
        raise self._refuse(Capability.COUNTS)

    def overdue(self, grace_seconds: float) -> int:
        """Refused."""
        raise self._refuse(Capability.COUNTS)

    def running(self, tenant: str) -> int:
        """Refused."""
        raise self._refuse(Capability.COUNTS)

    def ahead(self, job: Job) -> int:
        """Refused."""
        raise self._refuse(Capability.COUNTS)

    def ahead_of(self, jobs: Sequence[Job]) -> Mapping[str, int]:
        """Refused."""
        raise self._refuse(Capability.COUNTS)

    def tenants(self) -> Sequence[TenantLoad]:
        """Refused."""
        raise self._refuse(Capability.COUNTS)


class QueuesUnseen(CountsUnseen):
    """The queues of a jobs part that has none to show: workers run, operators see no counts."""

    def pause(self, name: str, actor: str) -> None:
        """Refused."""
        raise self._refuse(Capability.PAUSE)

    def resume(self, name: str, actor: str) -> None:
        """Refused."""
        raise self._refuse(Capability.PAUSE)

    def list(self) -> Sequence[QueueState]:
        """None was ever paused."""
        return []

    def head(self, job: Job) -> tuple[str, State] | None:
        """Without ordering keys no job is ahead by one."""
        return None

    def canceled(self, job_ids: Sequence[str]) -> frozenset[str]:
        """Unknown here: the next heartbeat tells (`extend`)."""
        return frozenset()

    def place(self, handlers: Mapping[str, Placement]) -> int:
        """Nothing: jobs stay in the queue they were added to."""
        return 0

    def lift(self, queue: str, seconds: float) -> int:
        """Refused."""
        raise self._refuse(Capability.AGEING)


class NoOrders:
    """The ordering keys of a store without any: none can have stopped."""

    def stopped(self, limit: int, after: str | None = None) -> Stopped:
        """None."""
        return Stopped()

    def release(self, order: OrderName) -> bool:
        """Nobody to release."""
        return False
