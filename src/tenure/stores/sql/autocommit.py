"""Statements without a transaction around them, each of which commits by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tenure.core.errors import CommitUnknown, StoreUnavailable
from tenure.stores.sql.dialect import Trouble
from tenure.stores.sql.transaction import Transaction

if TYPE_CHECKING:
    from tenure.stores.sql.database import Database


class Autocommit:
    """A connection without a transaction. A class with slots, because this is the hot path of
    PostgreSQL and a generator-based context manager costs more.
    """

    __slots__ = ("_connection", "_database")

    def __init__(self, database: Database, asked: float) -> None:
        """`asked` is when the caller came; nobody waits to begin here."""
        self._database = database

    def __enter__(self) -> Transaction:
        database = self._database
        self._connection = database.connections.take(database.dialect.listen_first)
        return Transaction(database, self._connection)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        give_back = self._database.connections.give_back
        if error is None:
            give_back(self._connection, True)
            return
        lost = self._database.dialect.trouble(error) is Trouble.LOST
        stopped = not isinstance(error, Exception) or isinstance(error, StoreUnavailable)
        give_back(self._connection, not (lost or stopped))
        if lost:
            raise CommitUnknown(
                f"the connection broke at a statement, so the change may have happened: {error}"
            ) from error
