"""The servers of decision 1: as those of the figures, but undisturbed by autovacuum."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from bench.databases import mariadb_server, postgres_server
from tests.support.servers import PrivateServer

POSTGRES = {
    "fsync": "on",
    "synchronous_commit": "on",
    "shared_buffers": "512MB",
    "max_wal_size": "16GB",
    "checkpoint_timeout": "1h",
    "autovacuum": "off",
    "jit": "on",
}


@dataclass(frozen=True)
class Database:
    """An empty database and the process of its server."""

    url: str
    pid: int


def postgres() -> AbstractContextManager[Database]:
    """An empty database on a PostgreSQL of its own."""
    return _database(postgres_server(POSTGRES))


def mariadb() -> AbstractContextManager[Database]:
    """An empty database on a MariaDB of its own."""
    return _database(mariadb_server())


@contextmanager
def _database(running: AbstractContextManager[PrivateServer]) -> Iterator[Database]:
    with running as server:
        yield Database(server.create_database(), server.process.pid)
