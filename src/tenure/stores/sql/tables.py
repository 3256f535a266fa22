"""Our tables as the migrations make them: names, columns and keys that are known, never guessed."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from operator import itemgetter

from tenure.stores.sql.migrations import load
from tenure.stores.sql.statement import Row

REFERENCE = "tenure.stores.sqlite"
NAMES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'tenure\\_%' ESCAPE '\\'"
COLUMNS = "SELECT name, pk FROM pragma_table_info(?) ORDER BY cid"


@dataclass(frozen=True, slots=True)
class Table:
    """One table; rows are in the order of `columns`, and sorted by `key`."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]

    @property
    def counted(self) -> bool:
        """Whether the database gives out its ids."""
        return self.key == ("id",)

    @property
    def key_of(self) -> Callable[[Row], Row]:
        """A row's key, as a tuple that sorts as the databases do."""
        places = [self.columns.index(name) for name in self.key]
        if len(places) == 1:
            place = places[0]
            return lambda row: (row[place],)
        return itemgetter(*places)


@cache
def known_tables() -> tuple[Table, ...]:
    """Every table with rows of ours, in the order in which the migrations make them.

    SQLite's migrations are run in memory and looked at. The other databases have the same columns,
    and some of their own beside them that are computed, or may be left out.
    """
    connection = sqlite3.connect(":memory:")
    try:
        for migration in load(REFERENCE):
            for statement in migration.statements:
                connection.execute(statement)
        names = [name for (name,) in connection.execute(NAMES)]
        return tuple(_table(connection, name) for name in names)
    finally:
        connection.close()


def _table(connection: sqlite3.Connection, name: str) -> Table:
    found = connection.execute(COLUMNS, (name,)).fetchall()
    key = sorted((place, column) for column, place in found if place)
    return Table(name, tuple(column for column, _ in found), tuple(column for _, column in key))
