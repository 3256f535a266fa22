"""Schema changes on SQLite: part of a transaction like any other, and everybody waits for each."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

from tenure.stores.sql.dialect import MigrationStatement

# Who waits for the file looks again after a tenth of a second at most.
NOTABLE_SECONDS = 0.1
ROOM_SECONDS = 0.3


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

    def change(self, connection: Any, step: MigrationStatement) -> None:
        """One transaction for each statement, so that other writers get in between."""
        begun = time.monotonic()
        self._run(connection, step)
        if time.monotonic() - begun > NOTABLE_SECONDS:
            time.sleep(ROOM_SECONDS)

    def _run(self, connection: Any, step: MigrationStatement) -> None:
        self._transactions.begin(connection)
        try:
            if step.due:
                connection.execute(step.sql)
                step.note()
        except BaseException:
            self._transactions.rollback(connection)
            raise
        self._transactions.commit(connection)
