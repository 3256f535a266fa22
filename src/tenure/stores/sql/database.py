"""Runs plans on a database, each in a transaction of its own, and repeats what collided."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from itertools import count
from typing import Any, TypeVar

from tenure.core.errors import StoreBusy, StoreUnavailable, TenureError
from tenure.core.timing.clock import Clock, to_micros
from tenure.stores.sql.autocommit import Autocommit
from tenure.stores.sql.connections import Connections, Timed
from tenure.stores.sql.dialect import Dialect
from tenure.stores.sql.driver_errors import named_errors, raise_unless_repeatable
from tenure.stores.sql.queries import Queries, read_sql
from tenure.stores.sql.statement import Plan, Rows, Statement, drive
from tenure.stores.sql.transaction import Transaction, commit, roll_back

T = TypeVar("T")
COMMIT = "COMMIT"
# A transaction that collides is repeated: about a second in all, and a minute if each try is slow.
TRIES = 8
TRYING_SECONDS = 60.0
# Shorter waits for the writer are not worth crediting to leases.
NOTABLE_WAIT_SECONDS = 0.25


class Database:
    """A dialect with its connections and queries. Threads may share it.

    `before_adopting(connection, inside)` is called before the first use of a user's connection.
    """

    def __init__(self, dialect: Dialect, clock: Clock | None = None) -> None:
        self.dialect = dialect
        self.clock = clock
        self.queries = Queries(read_sql(dialect.package), bound_clock=clock is not None)
        self.connections = Connections(dialect)
        self.before_adopting: Callable[[Any, bool], None] | None = None
        self._timed: Timed | None = None

    def run(self, plan: Callable[[], Plan[T]], patience: float | None = None) -> T:
        """Run a plan in a transaction; run it again if it collided with another one.

        With `patience` it waits at most so many seconds for a lock, then raises StoreBusy.
        """
        once = patience is not None
        return self._repeat(plan, partial(self.transaction, patience=patience), once=once)

    def run_loose(self, plan: Callable[[], Plan[T]], *, once: bool = False) -> T:
        """Run a plan whose statements need no common transaction. Where the dialect allows it,
        each one commits by itself, which saves two round trips.
        """
        if self.dialect.loose:
            return self._repeat(plan, partial(Autocommit, self), once=once)
        return self._repeat(plan, self.transaction, once=once)

    def _repeat(
        self,
        plan: Callable[[], Plan[T]],
        transaction: Callable[[float], AbstractContextManager[Transaction]],
        *,
        once: bool,
    ) -> T:
        asked, begun = self.elapsed(), time.monotonic()
        for attempt in count(1):
            try:
                with transaction(asked) as tx:
                    return drive(plan(), tx)
            except TenureError:
                raise
            except Exception as error:
                raise_unless_repeatable(self.dialect, error, once=once)
                if attempt == TRIES or time.monotonic() - begun > TRYING_SECONDS:
                    raise StoreBusy(
                        f"other transactions were in the way {attempt} times: {error}"
                    ) from error
                # Random, so that two that collided do not collide again.
                time.sleep(random.uniform(0.001, 0.005) * 2**attempt)  # noqa: S311
        raise AssertionError("unreachable")

    def read(self, statement: Statement) -> Rows:
        """Run a reading statement, without a transaction; again if a kept connection was dead."""
        try:
            return self._read(statement)
        except StoreUnavailable:
            self.close()
            return self._read(statement)

    def _read(self, statement: Statement) -> Rows:
        with self.connections.lend(lambda _: None) as connection, named_errors(self.dialect):
            return self.execute(connection, statement)

    @contextmanager
    def transaction(
        self, asked: float | None = None, patience: float | None = None
    ) -> Iterator[Transaction]:
        """Commits at the end of the block and rolls back if it raises. `asked` is when the caller
        began to wait for it.
        """
        asked = self.elapsed() if asked is None else asked
        with self.connections.lend(partial(self.dialect.begin, patience=patience)) as connection:
            tx = Transaction(
                self, connection, _waited(self.dialect, self.elapsed() - asked), ours=True
            )
            try:
                yield tx
            except BaseException as error:
                roll_back(self.dialect, connection, error)
                raise
            finally:
                tx.end()
            self._commit(connection)

    def _commit(self, connection: Any) -> None:
        begun = time.perf_counter()
        commit(self.dialect, connection)
        if self._timed is not None:
            self._timed(COMMIT, time.perf_counter() - begun)

    def execute(self, connection: Any, statement: Statement) -> Rows:
        """Run one statement on a connection."""
        if self._timed is None:
            return self.dialect.execute(connection, self.queries, self.stamp(statement))
        begun = time.perf_counter()
        try:
            return self.dialect.execute(connection, self.queries, self.stamp(statement))
        finally:
            self._timed(statement.name, time.perf_counter() - begun)

    def measure(self, timed: Timed | None) -> None:
        """Report the seconds of each statement, COMMIT and connection to `timed`."""
        self._timed = self.connections.timed = timed

    def elapsed(self) -> float:
        """Seconds on the clock that leases are judged by, without asking the database."""
        return time.monotonic() if self.clock is None else self.clock.now().timestamp()

    def stamp(self, statement: Statement) -> Statement:
        """The statement with a test's clock bound to it; unchanged with the database's own."""
        if self.clock is None:
            return statement
        values = {**statement.values, "clock_now": to_micros(self.clock.now())}
        return Statement(statement.name, values, statement.batch, statement.where)

    def raw_connection(self) -> AbstractContextManager[Any]:
        """A connection without the check of the schema: for migrations and `doctor`."""
        return self.connections.raw()

    def close(self) -> None:
        """Close idle connections."""
        self.connections.close()


def _waited(dialect: Dialect, seconds: float) -> float:
    """Time spent waiting for SQLite's one writer. Nobody could renew a lease meanwhile, so it does
    not count against leases.
    """
    return seconds if dialect.single_writer and seconds > NOTABLE_WAIT_SECONDS else 0.0
