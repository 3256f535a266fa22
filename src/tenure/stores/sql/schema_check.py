"""Before a database is used for the first time in a process: is it ours, open and up to date?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenure.core.errors import CodeTooOld, MigrationsPending
from tenure.stores.sql.closed_database import check_open
from tenure.stores.sql.database import Database
from tenure.stores.sql.migrations import Migrations


class SchemaCheck:
    """Runs once. With `auto_migrate` it brings an old schema up to date itself."""

    def __init__(
        self, database: Database, migrations: Callable[[], Migrations], *, auto_migrate: bool
    ) -> None:
        self._database = database
        self._migrations = migrations
        self._auto_migrate = auto_migrate
        self._done = False

    def on_ours(self, connection: Any, inside: bool = False) -> None:
        """Check on this connection. `inside` an open transaction nothing is migrated."""
        if self._done:
            return
        self._database.dialect.check(connection)
        check_open(self._database, connection)
        migrations = self._migrations()
        latest = migrations.latest
        have, serves = migrations.status(connection)
        if have < latest and self._auto_migrate and not inside:
            migrations.apply()
            have, serves = migrations.status(connection)
        if latest < serves:
            raise CodeTooOld(latest, serves)
        if have < latest:
            raise MigrationsPending(have, latest, inside=inside)
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
