"""A store on a SQL database: the shared body with one dialect's queries and driver."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from typing import Any, TypeVar

from tenure.core.job import Job
from tenure.core.rules.shares import Lane
from tenure.core.timing.clock import Clock, from_micros, seconds_to_micros
from tenure.stores.contract import Capability
from tenure.stores.sql import rows
from tenure.stores.sql.closed_database import check_open
from tenure.stores.sql.database import Database, Timed, Transaction
from tenure.stores.sql.dialect import Dialect
from tenure.stores.sql.foreign.transaction import adopt, is_async
from tenure.stores.sql.jobs import SqlJobs
from tenure.stores.sql.migrations import Migrations
from tenure.stores.sql.parts import SqlLocks, SqlQueues, SqlRecords, SqlSteps
from tenure.stores.sql.schemas import Schemas
from tenure.stores.sql.statement import Plan, Statement
from tenure.stores.sql.write.stopped_keys import SqlOrders
from tenure.stores.sql.write.unique_names import SqlKeys
from tenure.wakeups.due_jobs import Due, Wakes

T = TypeVar("T")
NOTABLE_HOLD_SECONDS = 0.5


class SqlStore:
    """See `tenure.stores.contract.Store`."""

    def __init__(
        self,
        dialect: Dialect,
        *,
        clock: Clock | None = None,
        auto_migrate: bool = False,
        wakes: Wakes | None = None,
    ) -> None:
        self.database = Database(dialect, clock)
        self.migrations = Migrations(self.database)
        self.wakes = Wakes() if wakes is None else wakes
        self.jobs = SqlJobs(self.database, self.wakes)
        self.queues = SqlQueues(self.database, self._queue_changed, self.jobs.memories.revive)
        self.locks = SqlLocks(self.database)
        self.records = SqlRecords(self.database)
        self.keys = SqlKeys(self.database)
        self.orders = SqlOrders(self.database, self._lanes_freed)
        self.steps = SqlSteps(self.database)
        self.schemas = Schemas(
            self.database, self.migrations, migrate=auto_migrate, changed=self._check_again
        )
        self._checked = False
        self.database.before_use = self._check
        self.database.before_adopting = self._check_beside

    @property
    def capabilities(self) -> frozenset[Capability]:
        """All; without somebody to listen to, wake-ups stay within the process."""
        missing = set[Capability]() if self.wakes.listeners else {Capability.WAKE_UPS}
        return frozenset(Capability) - missing

    @property
    def fused(self) -> bool:
        """Whether settle and claim are better done in one transaction."""
        return self.database.dialect.fused

    def now(self) -> datetime:
        """The store's clock."""
        return from_micros(self.database.read(Statement("store_now"))[0][0])

    def look(self, ids: Sequence[str]) -> dict[str, Job]:
        """Many jobs in one statement, by id."""
        numbers = [number for one in ids if (number := rows.row_id(one)) is not None]
        if not numbers:
            return {}
        found = self.database.read(Statement("get_jobs", {"ids": numbers}))
        return {job.id: job for job in map(rows.job, found)}

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """A transaction of our own, for the caller's statements and ours."""
        with self.database.transaction() as tx:
            begun = time.monotonic()
            yield tx
            self._credit(tx, time.monotonic() - begun)
        self.wakes.tell(tx.due)

    def run(self, plan: Callable[[], Plan[T]]) -> T:
        """A feature's own plan."""
        return self.database.run(plan)

    def adopt(self, tx: Any) -> AbstractContextManager[Any]:
        """The caller's transaction as one of ours, for the length of a `with` block."""
        return adopt(self.database, tx)

    def is_async(self, tx: Any) -> bool:
        """Whether this connection or session must be awaited."""
        return is_async(tx)

    def measure(self, hear: Timed | None) -> None:
        """From now on, tell of each statement and connection how long it took."""
        self.database.timed = hear

    def version(self) -> str:
        """Database and version, for people."""
        with self.database.raw_connection() as connection:
            return self.database.dialect.version(connection)

    def close(self) -> None:
        """Close idle connections."""
        self.wakes.close()
        self.database.close()

    def _queue_changed(self, name: str, paused: bool) -> None:
        self.jobs.memories.forget()
        if not paused:
            self.wakes.tell(Due(frozenset([name])))

    def _lanes_freed(self, lanes: Sequence[Lane]) -> None:
        self.jobs.memories.revive(lanes)
        self.wakes.tell(Due(frozenset(lane.queue for lane in lanes)))

    def _credit(self, tx: Transaction, held: float) -> None:
        """On a database with one writer nobody could renew meanwhile: that time does not count."""
        if not self.database.dialect.single_writer or held < NOTABLE_HOLD_SECONDS:
            return
        tx.run(Statement("credit_leases", {"held": seconds_to_micros(held)}))

    def _check(self, connection: Any, inside: bool = False) -> None:
        """Before the first use in this process: is this a database we know, with our schema?"""
        if self._checked:
            return
        self.database.dialect.check(connection)
        check_open(self.database, connection)
        self.schemas.check(connection, inside=inside)
        self._checked = True
        self.database.before_adopting = None

    def _check_again(self) -> None:
        """A feature came with tables of its own: the next connection is checked for them too."""
        self._checked = False
        self.database.before_adopting = self._check_beside
        self.database.close()

    def _check_beside(self, theirs: Any, inside: bool) -> None:
        """The same before the first use of a caller's connection, `inside` an open transaction.

        By a connection of ours, as theirs may see the past. One writer has no room for ours beside
        it, and its own view is the only one.
        """
        if inside and self.database.dialect.single_writer:
            self._check(theirs, inside)
            return
        with self.database.raw_connection() as connection:
            self._check(connection, inside)
