"""Numbered, forward-only migrations under a lock: safe to run twice, by two at once, and again
after a crash at any statement.

A file says `-- serves: N`: the oldest code (by its own newest migration) that still works with it.
Old and new workers run side by side until a migration says otherwise. An empty database gets its
schema in one transaction where it can; one in use gets statement after statement, each noted when
it is done, so that the fleet goes on in between.

A statement ends with a `;` at the end of a line. One with such lines inside it, the body of a
trigger, stands between the lines `-- statement` and `-- end`.

The engine's migrations are kept in `tenure_migrations`, those of features in a table beside it:
code that knows no features reads the highest version of the first, and must not find theirs there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from itertools import pairwise
from typing import Any

from tenure.core.errors import StoreError
from tenure.stores.sql.database import Database
from tenure.stores.sql.ledger import Ledger, execute

FILE_NAME = re.compile(r"^(\d{4})_(\w+)\.sql$")
SERVES = re.compile(r"^-- serves: (\d+)$", re.MULTILINE)
ENDS = re.compile(r";[ \t]*(?:--[^\n]*)?(?:\n|$)")
WHOLE = re.compile(r"^-- statement\n(.*?)^-- end$", re.MULTILINE | re.DOTALL)
WHOLE_LINE = re.compile(r"^-- (?:statement|end)$", re.MULTILINE)


class MigrationOutOfOrder(StoreError):
    """A migration has a lower number than one that the database has had already."""

    code = "migration_out_of_order"
    retryable = False

    def __init__(self, name: str, have: int) -> None:
        super().__init__(
            f"migration {name} never ran, but the database is at version {have} already; "
            "migrations run in the order of their numbers: give it the next free number"
        )


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
        found: list[str] = []
        # What stands between two lines of the pattern comes at every second place.
        for at, text in enumerate(WHOLE.split(self.sql)):
            bare = "\n".join(line for line in text.splitlines() if not line.startswith("--"))
            parts = [bare.rstrip().removesuffix(";")] if at % 2 else ENDS.split(bare)
            found += [part.strip() for part in parts if part.strip()]
        return found

    @property
    def heading(self) -> str:
        """The comment that it begins with."""
        lines = self.sql.splitlines()
        first = next((at for at, line in enumerate(lines) if not line.startswith("--")), len(lines))
        return "\n".join(lines[:first])


class Migrations:
    """The migrations of the engine or of one feature, and what a database has of them."""

    def __init__(
        self, database: Database, found: Sequence[Migration] | None = None, feature: str = ""
    ) -> None:
        self._database = database
        self._ledger = Ledger(feature)
        self.feature = feature
        self.all = list(load(database.dialect.package) if found is None else found)

    @property
    def latest(self) -> int:
        """What this code needs."""
        return self.all[-1].version if self.all else 0

    def status(self, connection: Any) -> tuple[int, int]:
        """The schema's version, and the oldest code that it serves."""
        if not self._database.dialect.has_table(connection, self._ledger.table):
            return 0, 0
        return self._ledger.status(connection)

    def check_order(self, connection: Any) -> None:
        """MigrationOutOfOrder if one was added below a version that the database has."""
        have, _ = self.status(connection)
        earlier = [one for one in self.all if one.version < have]
        if not earlier:
            return
        ran = self._ledger.versions(connection)
        for one in earlier:
            if one.version not in ran:
                raise MigrationOutOfOrder(title(self, one), have)

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
        self.check_order(connection)
        have, _ = self.status(connection)
        return [migration for migration in self.all if migration.version > have]

    def _create(self, connection: Any) -> list[Migration]:
        """Everything in one transaction: nobody uses an empty database yet."""
        dialect = self._database.dialect
        dialect.begin(connection)
        try:
            execute(connection, self._ledger.create)
            missing = self._pending(connection)
            for migration in missing:
                with self._named(migration):
                    for sql in migration.statements:
                        execute(connection, sql)
                    self._ledger.record(connection, migration)
        except BaseException:
            dialect.rollback(connection)
            raise
        dialect.commit(connection)
        return missing

    def _run(self, connection: Any, migration: Migration) -> bool:
        """Statement after statement, from where it stopped; whether it was us who ended it."""
        execute(connection, self._ledger.create)
        with self._named(migration):
            done = self._ledger.reached(connection, migration)
            if done is None:  # another process was quicker
                return False
            # At least once, so that it is recorded: also a file without statements, or one that
            # was mended by removing the statements that could not run.
            statement = MigrationStatement(connection, self._ledger, migration, done)
            for position in range(done, max(done + 1, len(migration.statements))):
                statement = MigrationStatement(connection, self._ledger, migration, position)
                self._database.dialect.schema.change(connection, statement)
            return statement.ended

    @contextmanager
    def _named(self, migration: Migration) -> Iterator[None]:
        """An error says which migration stopped, and that it may simply be run again."""
        try:
            yield
        except Exception as error:
            raise StoreError(
                f"migration {title(self, migration)} stopped: {error}. "
                "Nothing after it ran; run tenure migrate again when the cause is gone"
            ) from error


class MigrationStatement:
    """One statement of a migration on a database in use."""

    def __init__(
        self, connection: Any, ledger: Ledger, migration: Migration, position: int
    ) -> None:
        self._connection, self._migration, self._position = connection, migration, position
        self._ledger = ledger
        statements = migration.statements
        self._last = position + 1 >= len(statements)
        self.sql = statements[position] if position < len(statements) else "SELECT 1"
        self.ended = False

    @property
    def due(self) -> bool:
        """Whether nobody else has done it meanwhile."""
        return self._ledger.reached(self._connection, self._migration) == self._position

    def note(self) -> None:
        """Write down that it is done: in its own transaction where the database can do that."""
        if self._last:
            self._ledger.record(self._connection, self._migration)
            self.ended = True
        else:
            self._ledger.keep_position(self._connection, self._migration, self._position + 1)


def title(migrations: Migrations, migration: Migration) -> str:
    """`0001_first` of the engine, `hello/0001_first` of a feature."""
    name = f"{migration.version:04d}_{migration.name}"
    return f"{migrations.feature}/{name}" if migrations.feature else name


def load(package: str) -> list[Migration]:
    """The migration files in the folder of a dialect, in order; none where it has none."""
    folder = files(package).joinpath("migrations")
    found = []
    for entry in folder.iterdir() if folder.is_dir() else ():
        if match := FILE_NAME.match(entry.name):
            found.append(parse(int(match[1]), match[2], entry.read_text("utf-8")))
    found.sort(key=lambda migration: migration.version)
    for one, following in pairwise(found):
        if one.version == following.version:
            raise StoreError(
                f"{package} has two migrations of version {one.version}: {one.name} and "
                f"{following.name}; give the newer one the next number"
            )
    return found


def parse(version: int, name: str, sql: str) -> Migration:
    """A file's text as a migration; one that does not say whom it serves is an error."""
    serves = SERVES.search(sql)
    if serves is None:
        raise StoreError(f"migration {version:04d}_{name} does not say '-- serves: N'")
    if WHOLE_LINE.search(WHOLE.sub("", sql)):
        raise StoreError(
            f"migration {version:04d}_{name} has a line '-- statement' without its '-- end', or "
            "the other way round"
        )
    return Migration(version, name, int(serves[1]), sql)
