"""Whole tables on PostgreSQL, for `tenure move`: COPY."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tenure.stores.sql.dialect import Dialect
from tenure.stores.sql.queries import to_pyformat
from tenure.stores.sql.statement import Row, Rows
from tenure.stores.sql.table_copy import delete_sql
from tenure.stores.sql.tables import Table

PATIENCE = "SET LOCAL lock_timeout = '60s'"
COUNTER = "coalesce(pg_sequence_last_value(pg_get_serial_sequence(:name::text, 'id')), 0)"
LAST = "SELECT coalesce(max(id), 0) FROM {table}"
GIVEN = f"SELECT {COUNTER}"
RAISE = f"SELECT setval(pg_get_serial_sequence(:name::text, 'id'), greatest(:last, {COUNTER}))"


class PostgresTableCopier:
    """See `tenure.stores.sql.table_copy.TableCopier`."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect

    def hold(self, connection: Any, tables: Sequence[str]) -> None:
        """SHARE: everybody may read, nobody may write, until we commit or are gone."""
        self._dialect.begin(connection)
        try:
            connection.execute(PATIENCE)
            connection.execute(f"LOCK TABLE {', '.join(tables)} IN SHARE MODE")
        except BaseException:
            self._dialect.rollback(connection)
            raise

    def let_go(self, connection: Any) -> None:
        """Commit."""
        self._dialect.commit(connection)

    def select(self, connection: Any, sql: str, values: Mapping[str, Any]) -> Rows:
        """As tuples."""
        return list(connection.execute(to_pyformat(sql), values).fetchall())

    def insert(self, connection: Any, table: Table, rows: Sequence[Row]) -> None:
        """COPY takes ids as they are: the identity column is BY DEFAULT."""
        into = f"COPY {table.name} ({', '.join(table.columns)}) FROM STDIN"
        with connection.cursor() as cursor, cursor.copy(into) as copy:
            for row in rows:
                copy.write_row(row)

    def delete(self, connection: Any, table: Table, keys: Sequence[Row]) -> None:
        """By primary key, in a pipeline."""
        with connection.cursor() as cursor:
            cursor.executemany(delete_sql(table, "%s"), keys)

    def last_id(self, connection: Any, table: Table) -> int:
        """The sequence remembers it; a row that brought its own id may be higher."""
        [(highest,)] = self.select(connection, LAST.format(table=table.name), {})
        [(given,)] = self.select(connection, GIVEN, {"name": table.name})
        return max(int(highest), int(given))

    def raise_id(self, connection: Any, table: Table, last: int) -> None:
        """A sequence begins at 1, so there is nothing to raise before."""
        if last:
            self.select(connection, RAISE, {"name": table.name, "last": last})

    def refresh(self, connection: Any, tables: Sequence[Table]) -> None:
        """The planner would take the tables for empty until autovacuum comes by."""
        connection.execute(f"ANALYZE {', '.join(table.name for table in tables)}")
