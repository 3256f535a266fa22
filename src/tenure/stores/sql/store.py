"""A store on a SQL database: the shared body with one dialect's queries and driver."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from tenure.core.capability import CapabilityError
from tenure.core.rules.shares import Lane
from tenure.core.timing.clock import Clock, from_micros, seconds_to_micros
from tenure.stores.contract import Capability, Store
from tenure.stores.sql.connections import Timed
from tenure.stores.sql.database import Database
from tenure.stores.sql.dialect import Dialect
from tenure.stores.sql.foreign.transaction import adopt, is_async
from tenure.stores.sql.migrations import Migrations
from tenure.stores.sql.parts.endings import SqlEndings
from tenure.stores.sql.parts.gates import SqlGates
from tenure.stores.sql.parts.jobs import SqlJobs
from tenure.stores.sql.parts.locks import SqlLocks
from tenure.stores.sql.parts.ordering_keys import SqlOrders
from tenure.stores.sql.parts.queues import SqlQueues
from tenure.stores.sql.parts.records import SqlRecords
from tenure.stores.sql.parts.rollups import SqlRollups
from tenure.stores.sql.parts.steps import SqlSteps
from tenure.stores.sql.parts.unique_names import SqlKeys
from tenure.stores.sql.schema_check import SchemaCheck
from tenure.stores.sql.schemas import Schemas
from tenure.stores.sql.statement import Plan, Statement
from tenure.stores.sql.transaction import Transaction
from tenure.wakeups.due_jobs import ANY_QUEUE, Due, Wakeups

T = TypeVar("T")
# A transaction shorter than this cannot have kept anybody from renewing a lease in time.
NOTABLE_HOLD_SECONDS = 0.5


class SqlStore:
    """See `tenure.stores.contract.Store`."""

    def __init__(
        self,
        dialect: Dialect,
        *,
        clock: Clock | None = None,
        auto_migrate: bool = False,
        wakeups: Wakeups | None = None,
    ) -> None:
        self.database = Database(dialect, clock)
        self.migrations = Migrations(self.database)
        self.wakeups = Wakeups() if wakeups is None else wakeups
        self.endings = SqlEndings(self.database)
        self.jobs = SqlJobs(self.database, self.wakeups, self.endings)
        self.queues = SqlQueues(self.database, self._queue_changed, self.jobs.lane_caches.revive)
        self.locks = SqlLocks(self.database)
        self.records = SqlRecords(self.database)
        self.keys = SqlKeys(self.database)
        self.orders = SqlOrders(self.database, self._lanes_freed)
        self.steps = SqlSteps(self.database)
        self.gates = SqlGates(self.database, partial(_rules_changed, self))
        self.rollups = SqlRollups(self.database)
        # Without a listener, wake-ups stay within the process.
        missing = set[Capability]() if self.wakeups.listeners else {Capability.WAKE_UPS}
        self.capabilities = frozenset(Capability) - missing
        self.schemas = Schemas(
            self.database,
            lambda: self.migrations,
            migrate=auto_migrate,
            changed=self._feature_came,
        )
        self._check = SchemaCheck(self.database, self.schemas)

    @property
    def name(self) -> str:
        """The dialect."""
        return self.database.dialect.name

    @property
    def fused(self) -> bool:
        """Whether one transaction that settles and claims is cheaper than two side by side."""
        return self.database.dialect.fused

    def now(self) -> datetime:
        """The store's clock."""
        [(now,)] = self.database.read(Statement("store_now"))
        return from_micros(now)

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """A transaction for the user's statements and Tenure's."""
        with self.database.transaction() as tx:
            begun = time.monotonic()
            yield tx
            self._credit(tx, time.monotonic() - begun)
        self.wakeups.tell(tx.due)

    def run(self, plan: Callable[[], Plan[T]]) -> T:
        """Run a feature's own plan in a transaction."""
        return self.database.run(plan)

    def adopt(self, tx: Any) -> AbstractContextManager[Any]:
        """A foreign transaction as one of the store, for the length of a `with` block."""
        return adopt(self.database, tx)

    def is_async(self, tx: Any) -> bool:
        """Whether this connection or session must be awaited."""
        return is_async(tx)

    def measure(self, hear: Timed | None) -> None:
        """Report the seconds of each statement and connection."""
        self.database.measure(hear)

    def version(self) -> str:
        """Database and version, for people."""
        with self.database.raw_connection() as connection:
            return self.database.dialect.version(connection)

    def close(self) -> None:
        """Close idle connections."""
        self.wakeups.close()
        self.database.close()

    def _queue_changed(self, name: str, paused: bool) -> None:
        self.jobs.lane_caches.forget()
        if not paused:
            self.wakeups.tell(Due(frozenset([name])))

    def _lanes_freed(self, lanes: Sequence[Lane]) -> None:
        self.jobs.lane_caches.revive(lanes)
        self.wakeups.tell(Due(frozenset(lane.queue for lane in lanes)))

    def _credit(self, tx: Transaction, held: float) -> None:
        """With one writer nobody could renew a lease meanwhile, so that time does not count."""
        if not self.database.dialect.single_writer or held < NOTABLE_HOLD_SECONDS:
            return
        tx.run(Statement("credit_leases", {"held": seconds_to_micros(held)}))

    def _feature_came(self) -> None:
        """A feature came with tables of its own: the next connection is checked for them too."""
        self._check.again()
        self.database.close()


def _rules_changed(store: SqlStore, frees: bool) -> None:
    """A limit of a key or a hold was changed here; `frees`: parked jobs may go on."""
    store.jobs.lane_caches.rules_changed()
    if frees:
        store.wakeups.tell(ANY_QUEUE)


def sql_store(store: Store) -> SqlStore:
    """The store as a SqlStore, for code that needs its database: migrations, `doctor`, `move`."""
    if isinstance(store, SqlStore):
        return store
    raise CapabilityError(Capability.SQL, store.name)
