"""Whole tables on MySQL and MariaDB, for `tenure move`: INSERT of many rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pymysql.cursors import Cursor

from tenure.stores.sql.queries import to_pyformat
from tenure.stores.sql.statement import Row, Rows
from tenure.stores.sql.table_copy import delete_sql, insert_sql
from tenure.stores.sql.tables import Table

PATIENCE = "SET SESSION lock_wait_timeout = 60"
FRESH = "SET time_zone = '+00:00' /*!80000 , SESSION information_schema_stats_expiry = 0 */"
LAST = """SELECT greatest((SELECT coalesce(max(auto_increment), 1) - 1
    FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = :name),
    (SELECT coalesce(max(id), 0) FROM {table}))"""


class MysqlTableCopier:
    """See `tenure.stores.sql.table_copy.TableCopier`."""

    def hold(self, connection: Any, tables: Sequence[str]) -> None:
        """WRITE locks out readers too, but lets this session make its triggers at the end."""
        with connection.cursor(Cursor) as cursor:
            cursor.execute(PATIENCE)
            cursor.execute(f"LOCK TABLES {', '.join(f'{name} WRITE' for name in tables)}")

    def let_go(self, connection: Any) -> None:
        """Each statement has committed by itself."""
        with connection.cursor(Cursor) as cursor:
            cursor.execute("UNLOCK TABLES")

    def select(self, connection: Any, sql: str, values: Mapping[str, Any]) -> Rows:
        """As tuples."""
        with connection.cursor(Cursor) as cursor:
            cursor.execute(to_pyformat(sql), values)
            return list(cursor.fetchall())

    def insert(self, connection: Any, table: Table, rows: Sequence[Row]) -> None:
        """The driver makes statements of many rows that the server's packets can hold."""
        with connection.cursor(Cursor) as cursor:
            cursor.executemany(insert_sql(table, "%s"), rows)

    def delete(self, connection: Any, table: Table, keys: Sequence[Row]) -> None:
        """By primary key."""
        with connection.cursor(Cursor) as cursor:
            cursor.executemany(delete_sql(table, "%s"), keys)

    def last_id(self, connection: Any, table: Table) -> int:
        """The table's counter; MySQL 8 would else answer with what it was a day ago."""
        with connection.cursor(Cursor) as cursor:
            cursor.execute(FRESH)
        [(last,)] = self.select(connection, LAST.format(table=table.name), {"name": table.name})
        return int(last)

    def raise_id(self, connection: Any, table: Table, last: int) -> None:
        """Never down: an empty table would take the lower number. Commits."""
        if last > self.last_id(connection, table):
            with connection.cursor(Cursor) as cursor:
                cursor.execute(f"ALTER TABLE {table.name} AUTO_INCREMENT = {last + 1:d}")

    def refresh(self, connection: Any, tables: Sequence[Table]) -> None:
        """The counts that the optimizer goes by."""
        with connection.cursor(Cursor) as cursor:
            cursor.execute(f"ANALYZE TABLE {', '.join(table.name for table in tables)}")
            cursor.fetchall()
