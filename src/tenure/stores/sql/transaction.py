"""One open transaction: it runs plans, and the user's own statements beside them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tenure.core.errors import (
    CommitUnknown,
    OptionError,
    StatementCommits,
    StoreUnavailable,
    TransactionEnded,
)
from tenure.core.timing.clock import seconds_to_micros
from tenure.stores.sql.dialect import Dialect, Trouble
from tenure.stores.sql.statement import WAITED, Rows, Statement
from tenure.wakeups.due_jobs import Due

if TYPE_CHECKING:
    from tenure.stores.sql.database import Database


class Transaction:
    """`ours` is False on a connection that belongs to the user. `waited` is how many seconds the
    transaction waited to begin. `due` collects the queues to wake after the commit.
    """

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
        """The driver's connection, until the transaction ends."""
        if self._connection is None:
            raise TransactionEnded
        return self._connection

    def run(self, statement: Statement) -> Rows:
        """Run one of Tenure's statements."""
        self._holds_work = True
        if WAITED in statement.values:
            values = {**statement.values, WAITED: seconds_to_micros(self.waited)}
            statement = replace(statement, values=values)
        return self.database.execute(self.connection, statement)

    def execute(self, sql: str, parameters: Any = (), /, **named: Any) -> Any:
        """Run the user's own statement, with the driver's parameters or with `:name`; returns the
        cursor.
        """
        if named and parameters:
            raise OptionError("give a list of parameters or named ones, not both")
        cursor = self.connection.cursor()
        if named:
            cursor.execute(self.database.dialect.named(sql), named)
        else:
            cursor.execute(sql, parameters)
        if self.ours:
            self._begin_again_after_schema_change()
        return cursor

    def _begin_again_after_schema_change(self) -> None:
        """CREATE TABLE and the like commit on MySQL. As the first statement that is harmless."""
        if not self.database.dialect.ended(self.connection):
            self._holds_work = True
        elif self._holds_work:
            raise StatementCommits
        else:
            self.database.dialect.begin(self.connection)

    def end(self) -> None:
        """Refuse further statements: the connection goes to somebody else."""
        self._connection = None


def commit(dialect: Dialect, connection: Any) -> None:
    """COMMIT. If the connection breaks here, nobody knows whether it happened: CommitUnknown."""
    try:
        dialect.commit(connection)
    except Exception as error:
        if dialect.trouble(error) is Trouble.LOST:
            dialect.close(connection)
            raise CommitUnknown(
                f"the connection broke at COMMIT, so the change may have happened: {error}"
            ) from error
        roll_back(dialect, connection, error)
        raise


def roll_back(dialect: Dialect, connection: Any, error: BaseException) -> None:
    """ROLLBACK because of `error`; StoreUnavailable if that was a lost connection."""
    try:
        dialect.rollback(connection)
    except Exception:
        dialect.close(connection)
    if isinstance(error, Exception) and dialect.trouble(error) is Trouble.LOST:
        dialect.close(connection)
        raise StoreUnavailable(f"the connection to the database broke: {error}") from error
