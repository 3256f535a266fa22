"""Databases for tests: an empty one with our schema costs a file copy or a few DELETEs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from sqlalchemy import Connection, Engine, NullPool, create_engine, inspect, make_url

from tenure.core.timing.clock import Clock
from tenure.stores import open_store
from tenure.stores.sql.store import SqlStore, sql_store
from tests.support.servers import DRIVERS, Server

KEPT = ("tenure_migrations", "tenure_feature_migrations")


class Databases(Protocol):
    """Where the tests of one database get theirs."""

    def empty(self, folder: Path) -> str:
        """The URL of a database that has our schema and no rows."""
        ...

    def fresh(self, folder: Path) -> str:
        """The URL of a database that has nothing."""
        ...


class SqliteFiles:
    """Copies of one migrated file."""

    def __init__(self, folder: Path) -> None:
        self._template = folder / "template.db"
        migrate(f"sqlite:///{self._template}")

    def empty(self, folder: Path) -> str:
        shutil.copyfile(self._template, folder / "tenure.db")
        return f"sqlite:///{folder / 'tenure.db'}"

    def fresh(self, folder: Path) -> str:
        return f"sqlite:///{folder / 'fresh.db'}"


class ServerDatabases:
    """One migrated database, emptied again and again; what was made is gone at the end."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._made: list[str] = []
        self.url = self.fresh()
        migrate(self.url)
        self._engine = engine_for(self.url)
        self._connection: Connection = self._engine.connect()
        tables = inspect(self._engine).get_table_names()
        ours = sorted(name for name in tables if name.startswith("tenure_") and name not in KEPT)
        self._deletes = [f"DELETE FROM {name}" for name in ours]  # noqa: S608 - names of ours

    def empty(self, folder: Path | None = None) -> str:
        with self._connection.begin():
            for delete in self._deletes:
                self._connection.exec_driver_sql(delete)
        return self.url

    def fresh(self, folder: Path | None = None) -> str:
        self._made.append(self._server.create_database())
        return self._made[-1]

    def close(self) -> None:
        self._connection.close()
        self._engine.dispose()
        if self._server.lasting:
            for url in self._made:
                self._server.drop_database(url)


class OpenStores:
    """One open store for each server's database and clock; SQLite files come and go."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, bool], SqlStore] = {}

    @contextmanager
    def on(self, url: str, clock: Clock | None) -> Iterator[SqlStore]:
        key = url, clock is None
        store = self._open.get(key) or sql_store(open_store(url, clock=clock))
        yield store
        if url.startswith("sqlite"):
            store.close()
        else:
            self._open[key] = store

    def close(self) -> None:
        for store in self._open.values():
            store.close()


@contextmanager
def databases_on(server: Server) -> Iterator[ServerDatabases]:
    """For as long as the session lasts."""
    databases = ServerDatabases(server)
    try:
        yield databases
    finally:
        databases.close()


def migrate(url: str) -> None:
    """Bring a database to this code's schema, with the tables of the features that come with it."""
    store = sql_store(open_store(url))
    store.schemas.add("files", "tenure.files.tables")
    store.schemas.apply()
    store.close()


def engine_for(url: str) -> Engine:
    """SQLAlchemy's view of one of our URLs, each connection its own."""
    address = make_url(url)
    driver = DRIVERS.get(address.drivername, address.drivername)
    return create_engine(address.set(drivername=driver), poolclass=NullPool)
