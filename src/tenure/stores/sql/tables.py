"""Tables as the migrations make them: names, columns and keys that are known, never guessed."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from operator import itemgetter

from tenure.stores.sql.migrations import load
from tenure.stores.sql.statement import Row

REFERENCE = "tenure.stores.sqlite"
NAMES = """SELECT name, sql FROM sqlite_master
    WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"""
COLUMNS = "SELECT name, pk FROM pragma_table_info(?) ORDER BY cid"
COUNTED = "AUTOINCREMENT"


@dataclass(frozen=True, slots=True)
class Table:
    """One table; rows are in the order of `columns`, and sorted by `key`."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    counted: bool = False
    """Whether the database gives out its ids, and must not give one out twice."""

    @property
    def key_of(self) -> Callable[[Row], Row]:
        """A row's key, as a tuple that sorts as the databases do."""
        positions = [self.columns.index(name) for name in self.key]
        if len(positions) == 1:
            position = positions[0]
            return lambda row: (row[position],)
        return itemgetter(*positions)


@cache
def known_tables(packages: tuple[str, ...] = ()) -> tuple[Table, ...]:
    """Every table of the engine and of features in these packages, in the order in which the
    migrations make them.

    SQLite's migrations are run in memory and looked at. The other databases have the same columns,
    and some of their own beside them that are computed, or may be left out.
    """
    connection = sqlite3.connect(":memory:")
    try:
        for package in (REFERENCE, *(f"{one}.sqlite" for one in packages)):
            for migration in load(package):
                for statement in migration.statements:
                    connection.execute(statement)
        found = connection.execute(NAMES).fetchall()
        return tuple(_table(connection, name, sql) for name, sql in found)
    finally:
        connection.close()


def _table(connection: sqlite3.Connection, name: str, sql: str) -> Table:
    found = connection.execute(COLUMNS, (name,)).fetchall()
    key = sorted((position, column) for column, position in found if position)
    return Table(
        name,
        tuple(column for column, _ in found),
        tuple(column for _, column in key),
        counted=COUNTED in sql.upper(),
    )
