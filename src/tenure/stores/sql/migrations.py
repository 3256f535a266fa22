"""Numbered, forward-only migrations under a lock: safe to run twice, by two at once, and again
after a crash at any statement.

A file says `-- serves: N`: the oldest code (by its own newest migration) that still works with it.
Old and new workers run side by side until a migration says otherwise. An empty database gets its
schema in one transaction where it can; one in use gets statement after statement, each noted when
it is done, so that the fleet goes on in between.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from tenure.core.errors import StoreError
from tenure.stores.sql.database import Database
from tenure.stores.sql.statement import Statement

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
        return [
            part.strip() for part in re.split(r";[ \t]*(?:--[^\n]*)?(?:\n|$)", bare) if part.strip()
        ]

    @property
    def heading(self) -> str:
        """The comment that it begins with."""
        lines = self.sql.splitlines()
        first = next((at for at, line in enumerate(lines) if not line.startswith("--")), len(lines))
        return "\n".join(lines[:first])


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
        rows = self._database.execute(connection, Statement("schema_status"))
        return (rows[0][0] or 0, rows[0][1] or 0) if rows else (0, 0)

    def pending(self) -> list[Migration]:
        """What `apply` would run."""
        with self._database.raw_connection() as connection:
            return self._pending(connection)

    def apply(self) -> list[Migration]:
        """Run what is missing; whoever comes second finds nothing to do."""
        dialect = self._database.dialect
        with self._database.raw_connection() as connection:
            dialect.check(connection)
            with dialect.schema.locked(connection):
                done: list[Migration] = []
                if dialect.schema.atomic and self.status(connection)[0] == 0:
                    done += self._create(connection)
                return done + [
                    one for one in self._pending(connection) if self._run(connection, one)
                ]

    def script(self, migrations: Sequence[Migration]) -> str:
        """The SQL of these migrations, as it would run."""
        if migrations and self._database.dialect.schema.atomic and migrations[0] == self.all[0]:
            return "\n".join(migration.sql.rstrip() + "\n" for migration in migrations)
        online = self._database.dialect.schema.online
        return "\n".join(
            "\n\n".join([one.heading, *(f"{online(sql)};" for sql in one.statements)]) + "\n"
            for one in migrations
        )

    def _pending(self, connection: Any) -> list[Migration]:
        have, _ = self.status(connection)
        return [migration for migration in self.all if migration.version > have]

    def _create(self, connection: Any) -> list[Migration]:
        """Everything in one transaction: nobody uses an empty database yet."""
        dialect = self._database.dialect
        dialect.begin(connection)
        try:
            _execute(connection, BOOKKEEPING)
            missing = self._pending(connection)
            for migration in missing:
                with _named(migration):
                    for sql in migration.statements:
                        _execute(connection, sql)
                    _record(connection, migration)
        except BaseException:
            dialect.rollback(connection)
            raise
        dialect.commit(connection)
        return missing

    def _run(self, connection: Any, migration: Migration) -> bool:
        """Statement after statement, from where it stopped; whether it was us who ended it."""
        _execute(connection, BOOKKEEPING)
        with _named(migration):
            step = None
            for place in range(_reached(connection, migration), max(1, len(migration.statements))):
                step = Step(connection, migration, place)
                self._database.dialect.schema.change(connection, step)
            return step is not None and step.ended


class Step:
    """One statement of a migration on a database in use."""

    def __init__(self, connection: Any, migration: Migration, place: int) -> None:
        self._connection, self._migration, self._place = connection, migration, place
        statements = migration.statements
        self._last = place + 1 >= len(statements)
        self.sql = statements[place] if statements else "SELECT 1"
        self.ended = False

    @property
    def due(self) -> bool:
        """Whether nobody else has done it meanwhile."""
        return _reached(self._connection, self._migration) == self._place

    def note(self) -> None:
        """Write down that it is done: in its own transaction where the database can do that."""
        if self._last:
            _record(self._connection, self._migration)
            self.ended = True
        else:
            _keep_place(self._connection, self._migration, self._place + 1)


BOOKKEEPING = """CREATE TABLE IF NOT EXISTS tenure_migrations (
    version INTEGER PRIMARY KEY,
    name VARCHAR(100) NOT NULL,
    serves INTEGER NOT NULL,
    applied_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP
)"""


# A migration that stopped half way: its number below zero, and how many of its statements are done.
PLACE = "SELECT version, name FROM tenure_migrations WHERE version IN ({0:d}, -{0:d})"
FORGET = "DELETE FROM tenure_migrations WHERE version = -{0:d}"
INSERT = "INSERT INTO tenure_migrations (version, name, serves) VALUES "


def _reached(connection: Any, migration: Migration) -> int:
    """How many of its statements are done."""
    found = dict(_rows(connection, PLACE.format(migration.version)))
    if migration.version in found:
        return max(1, len(migration.statements))
    return int(found.get(-migration.version, 0))


def _keep_place(connection: Any, migration: Migration, place: int) -> None:
    _execute(connection, FORGET.format(migration.version))
    _execute(connection, INSERT + f"({-migration.version:d}, '{place:d}', 0)")


def _record(connection: Any, migration: Migration) -> None:
    _execute(connection, FORGET.format(migration.version))
    values = f"({migration.version:d}, '{migration.name}', {migration.serves:d})"
    _execute(connection, INSERT + values)


@contextmanager
def _named(migration: Migration) -> Iterator[None]:
    """An error says which migration stopped, and that it may simply be run again."""
    try:
        yield
    except Exception as error:
        raise StoreError(
            f"migration {migration.version:04d}_{migration.name} stopped: {error}. "
            "Nothing after it ran; run tenure migrate again when the cause is gone"
        ) from error


def _execute(connection: Any, sql: str) -> None:
    cursor = connection.cursor()
    try:
        cursor.execute(sql)
    finally:
        cursor.close()


def _rows(connection: Any, sql: str) -> list[Any]:
    cursor = connection.cursor()
    try:
        cursor.execute(sql)
        return list(cursor.fetchall())
    finally:
        cursor.close()


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
