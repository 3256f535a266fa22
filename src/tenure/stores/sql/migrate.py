"""Numbered, forward-only migrations under a lock: safe to run twice, and by two at once.

A file says `-- serves: N`: the oldest code (by its own newest migration) that still works with it.
Old and new workers run side by side until a migration says otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from tenure.core.errors import StoreError
from tenure.stores.sql.database import Database

FILE_NAME = re.compile(r"^(\d{4})_(\w+)\.sql$")
SERVES = re.compile(r"^-- serves: (\d+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Migration:
    """One file."""

    version: int
    name: str
    serves: int
    sql: str

    @property
    def statements(self) -> list[str]:
        """Its statements, in order."""
        bare = "\n".join(line for line in self.sql.splitlines() if not line.startswith("--"))
        return [part.strip() for part in re.split(r";\s*(?:\n|$)", bare) if part.strip()]


class Migrations:
    """The migrations of one dialect, and what a database has of them."""

    def __init__(self, database: Database, found: Sequence[Migration] | None = None) -> None:
        self._database = database
        self.all = list(found or load(database.dialect.package))

    @property
    def latest(self) -> int:
        """What this code needs."""
        return self.all[-1].version

    def status(self, connection: Any) -> tuple[int, int]:
        """The schema's version, and the oldest code that it serves."""
        if not self._database.dialect.has_table(connection, "tenure_migrations"):
            return 0, 0
        rows = self._rows(connection, STATUS)
        return (rows[0][0] or 0, rows[0][1] or 0) if rows else (0, 0)

    def pending(self) -> list[Migration]:
        """What `apply` would run."""
        with self._database.raw_connection() as connection:
            have, _ = self.status(connection)
        return [migration for migration in self.all if migration.version > have]

    def apply(self) -> list[Migration]:
        """Run what is missing; whoever comes second finds nothing to do."""
        done: list[Migration] = []
        with self._database.raw_connection() as connection:
            dialect = self._database.dialect
            dialect.check(connection)
            with dialect.schema_lock(connection):
                have, _ = self.status(connection)
                for migration in self.all:
                    if migration.version > have:
                        self._run(connection, migration)
                        done.append(migration)
        return done

    def script(self, migrations: Sequence[Migration]) -> str:
        """The SQL of these migrations, as it would run."""
        return "\n".join(migration.sql.rstrip() + "\n" for migration in migrations)

    def _run(self, connection: Any, migration: Migration) -> None:
        cursor = connection.cursor()
        try:
            cursor.execute(BOOKKEEPING)
            for statement in migration.statements:
                cursor.execute(statement)
            done = f"VALUES ({migration.version:d}, '{migration.name}', {migration.serves:d})"
            cursor.execute("INSERT INTO tenure_migrations (version, name, serves) " + done)
        except Exception as error:
            raise StoreError(
                f"migration {migration.version:04d}_{migration.name} stopped: {error}. "
                "Nothing after it ran; run tenure migrate again when the cause is gone"
            ) from error
        finally:
            cursor.close()

    def _rows(self, connection: Any, sql: str) -> list[Any]:
        cursor = connection.cursor()
        try:
            cursor.execute(sql)
            return list(cursor.fetchall())
        finally:
            cursor.close()


BOOKKEEPING = """CREATE TABLE IF NOT EXISTS tenure_migrations (
    version INTEGER PRIMARY KEY,
    name VARCHAR(100) NOT NULL,
    serves INTEGER NOT NULL,
    applied_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP
)"""


STATUS = "SELECT max(version), max(serves) FROM tenure_migrations WHERE version > 0"


def load(package: str) -> list[Migration]:
    """The migration files beside a dialect's module, in order."""
    found = []
    for entry in files(package).joinpath("migrations").iterdir():
        if match := FILE_NAME.match(entry.name):
            found.append(parse(int(match[1]), match[2], entry.read_text("utf-8")))
    return sorted(found, key=lambda migration: migration.version)


def parse(version: int, name: str, sql: str) -> Migration:
    """A file's text as a migration; one that does not say whom it serves is an error."""
    serves = SERVES.search(sql)
    if serves is None:
        raise StoreError(f"migration {version:04d}_{name} does not say '-- serves: N'")
    return Migration(version, name, int(serves[1]), sql)
