"""Which migrations a database has had: the engine's in one table, those of features in another."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

ENGINE_TABLE = "tenure_migrations"
FEATURE_TABLE = "tenure_feature_migrations"
COLUMNS = """version INTEGER {key}NOT NULL,
    name VARCHAR(100) NOT NULL,
    serves INTEGER NOT NULL,
    applied_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP"""


class Numbered(Protocol):
    """A migration, as far as it is written down."""

    @property
    def version(self) -> int:
        """Its number."""
        ...

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def serves(self) -> int:
        """The oldest code that works with it."""
        ...

    @property
    def statements(self) -> list[str]:
        """Its statements."""
        ...


class Entry(NamedTuple):
    """A row, as far as it is read back."""

    version: int
    name: str


class Ledger:
    """The rows of the engine, or of one feature, whose name is checked to be a plain word."""

    def __init__(self, feature: str = "") -> None:
        self.table = FEATURE_TABLE if feature else ENGINE_TABLE
        self._mine = f" AND feature = '{feature}'" if feature else ""
        self._column, self._value = ("feature, ", f"'{feature}', ") if feature else ("", "")
        # The engine's table is as it always was: older code creates and reads it too.
        own = "feature VARCHAR(40) NOT NULL,\n    " if feature else ""
        key = ",\n    PRIMARY KEY (feature, version)" if feature else ""
        columns = COLUMNS.format(key="" if feature else "PRIMARY KEY ")
        self.create = f"CREATE TABLE IF NOT EXISTS {self.table} (\n    {own}{columns}{key}\n)"

    def status(self, connection: Any) -> tuple[int, int]:
        """The newest version, and the oldest code that the tables serve."""
        newest = f"SELECT max(version), max(serves) FROM {self.table} WHERE version > 0{self._mine}"  # noqa: S608
        [(version, serves)] = fetch(connection, newest)
        return version or 0, serves or 0

    def versions(self, connection: Any) -> set[int]:
        """Every migration that is done."""
        sql = f"SELECT version FROM {self.table} WHERE version > 0{self._mine}"  # noqa: S608
        return {version for (version,) in fetch(connection, sql)}

    def reached(self, connection: Any, migration: Numbered) -> int | None:
        """How many statements of a migration are done; None where all of it is recorded."""
        found = dict(self._entries(connection, migration.version))
        return None if migration.version in found else int(found.get(-migration.version, 0))

    def keep_position(self, connection: Any, migration: Numbered, position: int) -> None:
        """A migration that stopped half way: its number below zero, and how far it got."""
        self._forget_position(connection, migration)
        self._insert(connection, -migration.version, f"{position:d}", 0)

    def record(self, connection: Any, migration: Numbered) -> None:
        """All of it is done."""
        self._forget_position(connection, migration)
        self._insert(connection, migration.version, migration.name, migration.serves)

    def _entries(self, connection: Any, version: int) -> list[Entry]:
        both = f"version IN ({version:d}, -{version:d}){self._mine}"
        sql = f"SELECT version, name FROM {self.table} WHERE {both}"  # noqa: S608 - names of ours
        return [Entry(*row) for row in fetch(connection, sql)]

    def _forget_position(self, connection: Any, migration: Numbered) -> None:
        where = f"version = -{migration.version:d}{self._mine}"
        execute(connection, f"DELETE FROM {self.table} WHERE {where}")  # noqa: S608 - names of ours

    def _insert(self, connection: Any, version: int, name: str, serves: int) -> None:
        # Its values are numbers and a file's name of word characters: nothing to escape.
        values = f"{self._value}{version:d}, '{name}', {serves:d}"
        columns = f"{self._column}version, name, serves"
        execute(connection, f"INSERT INTO {self.table} ({columns}) VALUES ({values})")  # noqa: S608


def features_of(connection: Any) -> list[str]:
    """The features whose tables a database has; `FEATURE_TABLE` must be there."""
    sql = f"SELECT DISTINCT feature FROM {FEATURE_TABLE} WHERE version > 0 ORDER BY feature"  # noqa: S608
    return [feature for (feature,) in fetch(connection, sql)]


def execute(connection: Any, sql: str) -> None:
    """A statement without values, on the driver's own connection."""
    cursor = connection.cursor()
    try:
        cursor.execute(sql)
    finally:
        cursor.close()


def fetch(connection: Any, sql: str) -> list[Any]:
    """Its rows."""
    cursor = connection.cursor()
    try:
        cursor.execute(sql)
        return list(cursor.fetchall())
    finally:
        cursor.close()
