"""Reading and writing whole tables, where databases differ in it: for `tenure move`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from tenure.stores.sql.dialect import Dialect
from tenure.stores.sql.statement import Row, Rows
from tenure.stores.sql.tables import Table


class TableCopier(Protocol):
    """For one database. Names come from `known_tables`, values are always bound."""

    def hold(self, connection: Any, tables: Sequence[str]) -> None:
        """Keep others from writing, so that every read on this connection sees the same state."""
        ...

    def let_go(self, connection: Any) -> None:
        """Let others write again; what was written on this connection stays."""
        ...

    def select(self, connection: Any, sql: str, values: Mapping[str, Any]) -> Rows:
        """The rows of a SELECT with `:name` parameters."""
        ...

    def insert(self, connection: Any, table: Table, rows: Sequence[Row]) -> None:
        """Insert many rows with their ids, in the fastest way of the database."""
        ...

    def delete(self, connection: Any, table: Table, keys: Sequence[Row]) -> None:
        """Delete the rows with these keys."""
        ...

    def last_id(self, connection: Any, table: Table) -> int:
        """The highest id ever given out, even if its row is gone."""
        ...

    def raise_id(self, connection: Any, table: Table, last: int) -> None:
        """Make new ids higher than this one. May commit."""
        ...

    def refresh(self, connection: Any, tables: Sequence[Table]) -> None:
        """Refresh the planner's statistics after the tables were filled."""
        ...


def table_copier(dialect: Dialect) -> TableCopier:
    """The copier of this database."""
    if dialect.name == "sqlite":
        from tenure.stores.sqlite.table_copy import SqliteTableCopier

        return SqliteTableCopier(dialect)
    if dialect.name == "postgres":
        from tenure.stores.postgres.table_copy import PostgresTableCopier

        return PostgresTableCopier(dialect)
    from tenure.stores.mysql.table_copy import MysqlTableCopier

    return MysqlTableCopier()


def insert_sql(table: Table, mark: str) -> str:
    """An INSERT of one row."""
    marks = ", ".join([mark] * len(table.columns))
    return f"INSERT INTO {table.name} ({', '.join(table.columns)}) VALUES ({marks})"  # noqa: S608 - names of ours


def delete_sql(table: Table, mark: str) -> str:
    """A DELETE of one row by its key."""
    same = " AND ".join(f"{column} = {mark}" for column in table.key)
    return f"DELETE FROM {table.name} WHERE {same}"  # noqa: S608 - names of ours
