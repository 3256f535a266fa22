"""One end of a transfer: a database with one open connection."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from tenure.core.errors import TransferRefused
from tenure.stores.open import open_store
from tenure.stores.sql import closed_database as closing
from tenure.stores.sql.database import Database
from tenure.stores.sql.migrations import Migrations
from tenure.stores.sql.statement import Rows
from tenure.stores.sql.store import sql_store
from tenure.stores.sql.table_copy import TableCopier, table_copier
from tenure.stores.sql.tables import Table, known_tables

BOOKKEEPING = "tenure_migrations"
PORTS = {"postgres": 5432, "mysql": 3306}


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """Reads and writes whole tables. `place` names it without a password."""

    place: str
    database: Database
    migrations: Migrations
    connection: Any
    ways: TableCopier

    @property
    def version(self) -> int:
        """The version of its schema; 0 where there is none."""
        return self.migrations.status(self.connection)[0]

    @property
    def mark(self) -> str | None:
        """Why nobody may use it now."""
        return closing.read_mark(self.database, self.connection)

    def select(self, sql: str, values: Mapping[str, Any] | None = None) -> Rows:
        """Rows of a statement whose names are ours."""
        return self.ways.select(self.connection, sql, values or {})

    def count(self, table: Table) -> int:
        """How many rows it has."""
        return int(self.select(f"SELECT count(*) FROM {table.name}")[0][0])  # noqa: S608 - a name of ours

    def counts(self) -> dict[str, int]:
        """The rows of every table that is there and has some."""
        has_table = self.database.dialect.has_table
        there = [one for one in known_tables() if has_table(self.connection, one.name)]
        found = {table.name: self.count(table) for table in there}
        return {name: count for name, count in found.items() if count}

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A transaction."""
        dialect = self.database.dialect
        dialect.begin(self.connection)
        try:
            yield
        except BaseException:
            with suppress(Exception):  # the error that brought us here says more
                dialect.rollback(self.connection)
            raise
        dialect.commit(self.connection)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nobody else writes here before the block ends."""
        tables = [BOOKKEEPING, *(table.name for table in known_tables())]
        self.ways.hold(self.connection, tables)
        try:
            yield
        except BaseException:
            with suppress(Exception):
                self.ways.let_go(self.connection)
            raise
        self.ways.let_go(self.connection)


@contextmanager
def open_end(url: str) -> Iterator[End]:
    """A connection that asks nothing of the schema yet."""
    store = sql_store(open_store(url, auto_migrate=False))
    database = store.database
    try:
        with database.raw_connection() as connection:
            database.dialect.check(connection)
            yield End(
                place=place_of(url, database),
                database=database,
                migrations=store.migrations,
                connection=connection,
                ways=table_copier(database.dialect),
            )
    finally:
        store.close()


def place_of(url: str, database: Database) -> str:
    """The same text for the same database, as far as its address tells."""
    path: str | None = getattr(database.dialect, "path", None)
    if path is not None:
        return f"sqlite:///{os.path.realpath(path)}"
    name, parts = database.dialect.name, urlsplit(url)
    return f"{name}://{parts.hostname}:{parts.port or PORTS[name]}{parts.path}"


def check_apart(source: End, target: End) -> None:
    """Raise where both are the same database."""
    if source.place == target.place:
        raise TransferRefused(f"--from and --to are the same database: {source.place}")
