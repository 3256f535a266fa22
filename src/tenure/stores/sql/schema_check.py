"""Before a database is used for the first time in a process: is it ours, open and up to date?"""

from __future__ import annotations

from typing import Any

from tenure.stores.sql.closed_database import check_open
from tenure.stores.sql.database import Database
from tenure.stores.sql.schemas import Schemas


class SchemaCheck:
    """Runs once, and again when a feature comes with tables of its own."""

    def __init__(self, database: Database, schemas: Schemas) -> None:
        self._database = database
        self._schemas = schemas
        self._done = False
        self.again()

    def again(self) -> None:
        """Check the next connection, ours or theirs."""
        self._done = False
        self._database.connections.before_use = self.on_ours
        self._database.before_adopting = self.on_theirs

    def on_ours(self, connection: Any, inside: bool = False) -> None:
        """Check on this connection. `inside` an open transaction nothing is migrated."""
        if self._done:
            return
        self._database.dialect.check(connection)
        check_open(self._database, connection)
        self._schemas.check(connection, inside=inside)
        self._done = True
        self._database.before_adopting = None

    def on_theirs(self, theirs: Any, inside: bool) -> None:
        """Check before the first use of a user's connection, `inside` an open transaction or not.

        On a connection of our own, because a transaction of theirs may see the past. SQLite has no
        room for a second writer, and its transaction sees the present.
        """
        if inside and self._database.dialect.single_writer:
            self.on_ours(theirs, inside)
            return
        with self._database.raw_connection() as connection:
            self.on_ours(connection, inside)
