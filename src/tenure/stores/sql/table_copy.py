"""How whole tables are read and written, where databases differ in that: for `tenure move`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from tenure.stores.sql.dialect import Dialect
from tenure.stores.sql.statement import Row, Rows
from tenure.stores.sql.tables import Table


class TableCopier(Protocol):
    """One database's. Table and column names come from `known_tables`, values are always bound."""

    def hold(self, connection: Any, tables: Sequence[str]) -> None:
        """From now on nobody else writes, and every read on this connection sees the same."""
        ...

    def let_go(self, connection: Any) -> None:
        """The others may write again; what was written on this connection stays."""
        ...

    def select(self, connection: Any, sql: str, values: Mapping[str, Any]) -> Rows:
        """The rows of a SELECT with `:name` parameters."""
        ...

    def insert(self, connection: Any, table: Table, rows: Sequence[Row]) -> None:
        """Many rows in the quickest way there is, ids and all."""
        ...

    def delete(self, connection: Any, table: Table, keys: Sequence[Row]) -> None:
        """The rows with these keys."""
        ...

    def last_id(self, connection: Any, table: Table) -> int:
        """The highest id ever given out, also where its row is gone."""
        ...

    def raise_id(self, connection: Any, table: Table, last: int) -> None:
        """Ids given out from now on are higher than this one. May commit."""
        ...

    def refresh(self, connection: Any, tables: Sequence[Table]) -> None:
        """What the planner knows of the tables, after they were filled."""
        ...


def table_copier(dialect: Dialect) -> TableCopier:
    """Those of this database."""
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
