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
from tenure.stores.sql.ledger import FEATURE_TABLE, features_of
from tenure.stores.sql.migrations import Migrations
from tenure.stores.sql.schemas import Schemas
from tenure.stores.sql.statement import Rows
from tenure.stores.sql.store import sql_store
from tenure.stores.sql.table_copy import TableCopier, table_copier
from tenure.stores.sql.tables import Table, known_tables

BOOKKEEPING = "tenure_migrations"
PORTS = {"postgres": 5432, "mysql": 3306}


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """Reads and writes whole tables. `address` names it without a password."""

    address: str
    database: Database
    migrations: Migrations
    schemas: Schemas
    connection: Any
    ways: TableCopier

    @property
    def version(self) -> int:
        """The version of its schema; 0 where there is none."""
        return self.migrations.status(self.connection)[0]

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables of the engine, and of the features that this database has."""
        found = set(self.features)
        packages = self.schemas.packages
        return known_tables(tuple(packages[name] for name in packages if name in found))

    @property
    def features(self) -> list[str]:
        """The features whose tables are there, installed here or not."""
        if not self.database.dialect.has_table(self.connection, FEATURE_TABLE):
            return []
        return features_of(self.connection)

    @property
    def mark(self) -> str | None:
        """Why nobody may use it now."""
        return closing.read_mark(self.database, self.connection)

    def select(self, sql: str, values: Mapping[str, Any] | None = None) -> Rows:
        """The rows of a SELECT with known table and column names."""
        return self.ways.select(self.connection, sql, values or {})

    def count(self, table: Table) -> int:
        """The number of rows of a table."""
        [(number,)] = self.select(f"SELECT count(*) FROM {table.name}")  # noqa: S608 - a name of ours
        return int(number)

    def counts(self) -> dict[str, int]:
        """The number of rows of every table that is not empty."""
        has_table = self.database.dialect.has_table
        there = [one for one in self.tables if has_table(self.connection, one.name)]
        found = {table.name: self.count(table) for table in there}
        return {name: count for name, count in found.items() if count}

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Run the block in a transaction."""
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
        """Keep others from writing until the block ends."""
        books = [BOOKKEEPING, FEATURE_TABLE] if self.features else [BOOKKEEPING]
        tables = [*books, *(table.name for table in self.tables)]
        self.ways.hold(self.connection, tables)
        try:
            yield
        except BaseException:
            with suppress(Exception):
                self.ways.let_go(self.connection)
            raise
        self.ways.let_go(self.connection)


@contextmanager
def open_end(url: str, packages: Mapping[str, str] | None = None) -> Iterator[End]:
    """A connection that asks nothing of the schema yet. `packages` are those with the tables of
    features, by the names of the features.
    """
    store = sql_store(open_store(url, auto_migrate=False))
    for feature, package in (packages or {}).items():
        store.schemas.add(feature, package)
    database = store.database
    try:
        with database.raw_connection() as connection:
            database.dialect.check(connection)
            yield End(
                address=address_of(url, database),
                database=database,
                migrations=store.migrations,
                schemas=store.schemas,
                connection=connection,
                ways=table_copier(database.dialect),
            )
    finally:
        store.close()


def address_of(url: str, database: Database) -> str:
    """A text that is the same for every spelling of a database's URL, without the password."""
    path: str | None = getattr(database.dialect, "path", None)
    if path is not None:
        return f"sqlite:///{os.path.realpath(path)}"
    name, parts = database.dialect.name, urlsplit(url)
    return f"{name}://{parts.hostname}:{parts.port or PORTS[name]}{parts.path}"


def check_apart(source: End, target: End) -> None:
    """Raise if both ends are the same database."""
    if source.address == target.address:
        raise TransferRefused(f"--from and --to are the same database: {source.address}")
