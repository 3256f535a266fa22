"""Connections and transactions of one process: opened at first use, reopened after a fork."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any, TypeVar
from weakref import WeakSet

from tenure.core.errors import (
    CommitUnknown,
    OptionError,
    StatementCommits,
    StoreBusy,
    StoreUnavailable,
    TenureError,
    TransactionEnded,
)
from tenure.core.timing.clock import Clock, seconds_to_micros, to_micros
from tenure.stores.sql.dialect import Dialect, Trouble
from tenure.stores.sql.idle_connections import Idle
from tenure.stores.sql.queries import Queries, read_sql
from tenure.stores.sql.statement import WAITED, Plan, Rows, Statement, drive
from tenure.wakeups.due_jobs import Due

T = TypeVar("T")
Timed = Callable[[str, float], None]
"""Told of each statement by name, of COMMIT, and of CONNECTION: the seconds that each took."""
COMMIT, CONNECTION = "COMMIT", "CONNECTION"
TRIES = 8
TRYING_SECONDS = 60.0
NOTABLE_WAIT_SECONDS = 0.25


class Transaction:
    """An open transaction of ours: runs plans, and the caller's own statements beside them."""

    def __init__(
        self, database: Database, connection: Any, waited: float = 0.0, *, ours: bool = False
    ) -> None:
        self.database = database
        self.waited = waited
        self.ours = ours
        self.due = Due()
        self._connection = connection
        self._holds_work = False

    @property
    def connection(self) -> Any:
        """The driver's, until the transaction ends: then it is somebody else's."""
        if self._connection is None:
            raise TransactionEnded
        return self._connection

    def run(self, statement: Statement) -> Rows:
        """One statement of ours."""
        self._holds_work = True
        if WAITED in statement.values:
            values = {**statement.values, WAITED: seconds_to_micros(self.waited)}
            statement = replace(statement, values=values)
        return self.database.execute(self.connection, statement)

    def execute(self, sql: str, parameters: Any = (), /, **named: Any) -> Any:
        """The caller's own statement, in the driver's style or with `:name`; answers the cursor."""
        if named and parameters:
            raise OptionError("give a list of parameters or named ones, not both")
        cursor = self.connection.cursor()
        if named:
            cursor.execute(self.database.dialect.named(sql), named)
        else:
            cursor.execute(sql, parameters)
        if self.ours:
            self._go_on()
        return cursor

    def _go_on(self) -> None:
        """CREATE TABLE and the like commit on MySQL: harmless where that commits nothing else."""
        if not self.database.dialect.ended(self.connection):
            self._holds_work = True
        elif self._holds_work:
            raise StatementCommits
        else:
            self.database.dialect.begin(self.connection)

    def end(self) -> None:
        """Nothing more goes through here."""
        self._connection = None


class Database:
    """A dialect with its connections. Threads may share it; each transaction has its own one."""

    def __init__(self, dialect: Dialect, clock: Clock | None = None) -> None:
        self.dialect = dialect
        self.clock = clock
        self.queries = Queries(read_sql(dialect.package), bound_clock=clock is not None)
        self.before_use: Callable[[Any], None] | None = None
        self.before_adopting: Callable[[Any, bool], None] | None = None
        self.timed: Timed | None = None
        self._idle = Idle(dialect.close)
        _databases.add(self)

    def run(self, plan: Callable[[], Plan[T]], patience: float | None = None) -> T:
        """A plan in a transaction of its own, again where the database asks for it.

        With `patience` it waits no longer than so many seconds for a lock, and says so: StoreBusy.
        """
        once = patience is not None
        return self._again(plan, partial(self.transaction, patience=patience), once=once)

    def run_loose(self, plan: Callable[[], Plan[T]], *, once: bool = False) -> T:
        """A plan whose statements need no transaction around them, where the database can do so;
        `once`: it has a patience of its own.
        """
        transaction = self._no_transaction if self.dialect.loose else self.transaction
        return self._again(plan, transaction, once=once)

    def _again(
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
                self._raise_named(error, once=once)
                if attempt == TRIES or time.monotonic() - begun > TRYING_SECONDS:
                    raise StoreBusy(
                        f"other transactions were in the way {attempt} times: {error}"
                    ) from error
                time.sleep(random.uniform(0.001, 0.005) * 2**attempt)  # noqa: S311
        raise AssertionError("unreachable")

    def _raise_named(self, error: Exception, *, once: bool) -> None:
        """Unless the transaction is to run again."""
        trouble = self.dialect.trouble(error)
        if trouble is Trouble.UNABLE:
            raise StoreUnavailable(f"the database cannot do this now: {error}") from error
        if trouble is Trouble.LOCKED and once:
            raise StoreBusy(f"another transaction keeps a lock: {error}") from error
        if trouble not in (Trouble.AGAIN, Trouble.LOCKED):
            raise error

    def _no_transaction(self, asked: float) -> AbstractContextManager[Transaction]:
        return _Loose(self)

    def read(self, statement: Statement) -> Rows:
        """One reading statement, outside a transaction; again where a kept connection was stale."""
        try:
            return self._read(statement)
        except StoreUnavailable:
            self.close()
            return self._read(statement)

    def _read(self, statement: Statement) -> Rows:
        with self._connection(lambda _: None) as connection, self._named_errors():
            return self.execute(connection, statement)

    @contextmanager
    def transaction(
        self, asked: float | None = None, patience: float | None = None
    ) -> Iterator[Transaction]:
        """Commits at the end of the block, rolls back where it raises; `asked` is when we came."""
        asked = self.elapsed() if asked is None else asked
        with self._connection(partial(self.dialect.begin, patience=patience)) as connection:
            tx = Transaction(self, connection, self._waited(asked), ours=True)
            try:
                yield tx
            except BaseException as error:
                self._roll_back(connection, error)
                raise
            finally:
                tx.end()
            self._commit(connection)

    def _waited(self, asked: float) -> float:
        """While we waited for the one writer nobody else could renew a lease either."""
        waited = self.elapsed() - asked
        return waited if self.dialect.single_writer and waited > NOTABLE_WAIT_SECONDS else 0.0

    def execute(self, connection: Any, statement: Statement) -> Rows:
        """One statement on a connection, with the clock bound where one was given."""
        if self.timed is None:
            return self.dialect.execute(connection, self.queries, self.stamp(statement))
        begun = time.perf_counter()
        try:
            return self.dialect.execute(connection, self.queries, self.stamp(statement))
        finally:
            self.timed(statement.name, time.perf_counter() - begun)

    def elapsed(self) -> float:
        """Seconds on the clock that leases are judged by, as far as it can be told from here."""
        return time.monotonic() if self.clock is None else self.clock.now().timestamp()

    def stamp(self, statement: Statement) -> Statement:
        """The statement with the test's clock in it; unchanged with the database's own."""
        if self.clock is None:
            return statement
        values = {**statement.values, "clock_now": to_micros(self.clock.now())}
        return Statement(statement.name, values, statement.batch, statement.where)

    def close(self) -> None:
        """Close what is idle; what is in use closes when it is given back."""
        self._idle.close()

    @contextmanager
    def raw_connection(self) -> Iterator[Any]:
        """A connection without the schema check: for migrations and doctors."""
        with self._named_errors():
            connection = self.dialect.connect()
        try:
            yield connection
        finally:
            self.dialect.close(connection)

    def _commit(self, connection: Any) -> None:
        begun = time.perf_counter()
        try:
            self.dialect.commit(connection)
            if self.timed is not None:
                self.timed(COMMIT, time.perf_counter() - begun)
        except Exception as error:
            if self.dialect.trouble(error) is Trouble.LOST:
                self.dialect.close(connection)
                raise CommitUnknown(
                    f"the connection broke at COMMIT, so the change may have happened: {error}"
                ) from error
            self._roll_back(connection, error)
            raise

    def _roll_back(self, connection: Any, error: BaseException) -> None:
        try:
            self.dialect.rollback(connection)
        except Exception:
            self.dialect.close(connection)
        if isinstance(error, Exception) and self.dialect.trouble(error) is Trouble.LOST:
            self.dialect.close(connection)
            raise StoreUnavailable(f"the connection to the database broke: {error}") from error

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        try:
            yield
        except TenureError:
            raise
        except Exception as error:
            trouble = self.dialect.trouble(error)
            if trouble is Trouble.LOST:
                raise StoreUnavailable(f"the database cannot be reached: {error}") from error
            if trouble is Trouble.UNABLE:
                raise StoreUnavailable(f"the database cannot do this now: {error}") from error
            raise

    @contextmanager
    def _connection(self, start: Callable[[Any], None]) -> Iterator[Any]:
        connection = self._started(start)
        healthy = False
        try:
            yield connection
            healthy = True
        except TenureError as error:
            healthy = not isinstance(error, StoreUnavailable)
            raise
        except Exception as error:
            healthy = self.dialect.trouble(error) is not Trouble.LOST
            raise
        finally:
            self._give_back(connection, healthy)

    def _started(self, start: Callable[[Any], None]) -> Any:
        """A connection to work on; how long that took is told."""
        if self.timed is None:
            return self._kept_or_new(start)
        begun = time.perf_counter()
        connection = self._kept_or_new(start)
        self.timed(CONNECTION, time.perf_counter() - begun)
        return connection

    def _kept_or_new(self, start: Callable[[Any], None]) -> Any:
        """A kept connection if it still lives, else a new one."""
        kept = self._idle.take()
        if kept is not None:
            try:
                start(kept)
            except Exception as error:
                self.dialect.close(kept)
                if self.dialect.trouble(error) is not Trouble.LOST:
                    raise
                self.close()  # the server was restarted: the others are gone too
            else:
                return kept
        connection = self._new()
        try:
            with self._named_errors():
                start(connection)
        except BaseException:
            self.dialect.close(connection)
            raise
        return connection

    def _new(self) -> Any:
        with self._named_errors():
            connection = self.dialect.connect()
        if self.before_use is not None:
            try:
                self.before_use(connection)
            except BaseException:
                self.dialect.close(connection)
                raise
        return connection

    def _give_back(self, connection: Any, healthy: bool) -> None:
        if healthy:
            self._idle.give_back(connection)
        else:
            self.dialect.close(connection)


class _Loose:
    """A connection without a transaction around it. The shortest way, for what comes most often."""

    __slots__ = ("_connection", "_database")

    def __init__(self, database: Database) -> None:
        self._database = database

    def __enter__(self) -> Transaction:
        self._connection = self._database._started(self._database.dialect.listen_first)
        return Transaction(self._database, self._connection)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            self._database._give_back(self._connection, True)
            return
        lost = self._database.dialect.trouble(error) is Trouble.LOST
        stopped = not isinstance(error, Exception) or isinstance(error, StoreUnavailable)
        self._database._give_back(self._connection, not (lost or stopped))
        if lost:
            raise CommitUnknown(
                f"the connection broke at a statement, so the change may have happened: {error}"
            ) from error


_databases: WeakSet[Database] = WeakSet()


def _before_fork() -> None:
    """SQLite's file locks stay behind in the parent, and a child that believes it has them loses
    its writes when the parent closes the file. So a fork carries no idle SQLite connection over.
    """
    for database in list(_databases):
        if database.dialect.single_writer:
            database.close()


os.register_at_fork(before=_before_fork)
