"""Whole tables on SQLite, for `tenure move`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tenure.stores.sql.dialect import Dialect
from tenure.stores.sql.statement import Row, Rows
from tenure.stores.sql.table_copy import delete_sql, insert_sql
from tenure.stores.sql.tables import Table

LAST = """SELECT max(coalesce((SELECT seq FROM sqlite_sequence WHERE name = :name), 0),
    coalesce((SELECT max(id) FROM {table}), 0))"""
RAISE = "UPDATE sqlite_sequence SET seq = max(seq, :last) WHERE name = :name"
START = """INSERT INTO sqlite_sequence (name, seq) SELECT :name, :last
WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = :name)"""


class SqliteTableCopier:
    """See `tenure.stores.sql.table_copy.TableCopier`."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect

    def hold(self, connection: Any, tables: Sequence[str]) -> None:
        """The one write transaction that there can be. It ends with its process, if killed."""
        self._dialect.begin(connection)

    def let_go(self, connection: Any) -> None:
        """Commit."""
        self._dialect.commit(connection)

    def select(self, connection: Any, sql: str, values: Mapping[str, Any]) -> Rows:
        """Named parameters are SQLite's own."""
        return list(connection.execute(sql, values).fetchall())

    def insert(self, connection: Any, table: Table, rows: Sequence[Row]) -> None:
        """One prepared statement, row after row."""
        connection.executemany(insert_sql(table, "?"), rows)

    def delete(self, connection: Any, table: Table, keys: Sequence[Row]) -> None:
        """By primary key."""
        connection.executemany(delete_sql(table, "?"), keys)

    def last_id(self, connection: Any, table: Table) -> int:
        """AUTOINCREMENT remembers it; a plain INTEGER PRIMARY KEY goes by its rows."""
        [(last,)] = self.select(connection, LAST.format(table=table.name), {"name": table.name})
        return int(last)

    def raise_id(self, connection: Any, table: Table, last: int) -> None:
        """Where the table has no counter of its own, a line in the list of counters is ignored."""
        for sql in (RAISE, START):
            connection.execute(sql, {"name": table.name, "last": last})

    def refresh(self, connection: Any, tables: Sequence[Table]) -> None:
        """Our statements need no statistics here."""
