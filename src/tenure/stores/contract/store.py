"""What a store promises. The numbers are those of `docs/store-contract.md` and of the suite.

Nothing here speaks SQL: a store that keeps its jobs elsewhere fits behind it, and says by
`capabilities` what it cannot do.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Protocol

from tenure.core.capability import Capability
from tenure.stores.contract.endings import EndingStore
from tenure.stores.contract.gates import GateStore
from tenure.stores.contract.jobs import JobStore
from tenure.stores.contract.parts import (
    KeyStore,
    LockStore,
    OrderStore,
    QueueStore,
    RecordStore,
    StepStore,
)
from tenure.stores.contract.rollups import RollupStore
from tenure.wakeups.due_jobs import Wakeups


class Transaction(Protocol):
    """An open transaction of the store. `connection` is the driver's own."""

    connection: Any

    def execute(self, sql: str, parameters: Any = (), /, **named: Any) -> Any:
        """Run the user's own statement in it, with the driver's parameters or with `:name`."""
        ...


class Parts(Protocol):
    """What a store is made of. Reading a part that the store lacks raises CapabilityError."""

    @property
    def jobs(self) -> JobStore:
        """Jobs."""
        ...

    @property
    def queues(self) -> QueueStore:
        """Queues."""
        ...

    @property
    def orders(self) -> OrderStore:
        """Ordering keys."""
        ...

    @property
    def steps(self) -> StepStore:
        """Finished steps of jobs."""
        ...

    @property
    def gates(self) -> GateStore:
        """Limits of single keys, and holds."""
        ...

    @property
    def locks(self) -> LockStore:
        """Named locks."""
        ...

    @property
    def records(self) -> RecordStore:
        """Small records."""
        ...

    @property
    def keys(self) -> KeyStore:
        """Names that can be taken once."""
        ...

    @property
    def endings(self) -> EndingStore:
        """Features that follow the endings of jobs."""
        ...

    @property
    def rollups(self) -> RollupStore:
        """Counts by minute, and groups of errors."""
        ...

    @property
    def wakeups(self) -> Wakeups:
        """Who is told of due jobs and of ended ones. Between processes only with WAKE_UPS."""
        ...


class Store(Parts, Protocol):
    """What `open_store` answers."""

    @property
    def name(self) -> str:
        """What messages call it."""
        ...

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

    def transaction(self) -> AbstractContextManager[Any]:
        """A transaction of the store's own."""
        ...

    def adopt(self, tx: Any) -> AbstractContextManager[Any]:
        """The user's open connection or session as a transaction of the store."""
        ...

    def is_async(self, tx: Any) -> bool:
        """Whether this connection or session must be awaited."""
        ...

    def measure(self, hear: Callable[[str, float], None] | None) -> None:
        """Report the seconds of each statement, of COMMIT and of CONNECTION by name."""
        ...

    def close(self) -> None:
        """Close every connection of this process."""
        ...
