"""Schema changes on SQLite: part of a transaction like any other, and everybody waits for each."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

from tenure.stores.sql.dialect import SchemaStep


class Transactions(Protocol):
    """The part of a dialect that is needed here."""

    def begin(self, connection: Any) -> None:
        """Become the writer."""
        ...

    def commit(self, connection: Any) -> None:
        """End it for good."""
        ...

    def rollback(self, connection: Any) -> None:
        """End it as if nothing had been."""
        ...


class SqliteSchema:
    """See `tenure.stores.sql.dialect.SchemaChanges`."""

    atomic = True

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def locked(self, connection: Any) -> AbstractContextManager[None]:
        """Not at all: each step has the file for itself, and looks whether it is still due."""
        return nullcontext()

    def online(self, sql: str) -> str:
        """As it is."""
        return sql

    def change(self, connection: Any, step: SchemaStep) -> None:
        """One transaction for each statement, so that other writers get in between."""
        self._transactions.begin(connection)
        try:
            if step.due:
                connection.execute(step.sql)
                step.note()
        except BaseException:
            self._transactions.rollback(connection)
            raise
        self._transactions.commit(connection)
