"""Fresh private servers with the settings of a measurement: durable, large and undisturbed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.servers import PrivateServer, server_folder, start_mariadb, start_postgres

POSTGRES = {
    "fsync": "on",
    "synchronous_commit": "on",
    "shared_buffers": "512MB",
    "max_wal_size": "16GB",
    "checkpoint_timeout": "1h",
    "autovacuum": "off",
    "jit": "on",
}
MARIADB = {
    "innodb-flush-log-at-trx-commit": "1",
    "innodb-buffer-pool-size": "512M",
    "innodb-log-file-size": "1G",
}


@dataclass(frozen=True)
class Database:
    """An empty database and the process of its server."""

    url: str
    pid: int


def postgres() -> AbstractContextManager[Database]:
    """An empty database on a PostgreSQL of its own."""
    return _measured(start_postgres, POSTGRES)


def mariadb() -> AbstractContextManager[Database]:
    """An empty database on a MariaDB of its own."""
    return _measured(start_mariadb, MARIADB)


@contextmanager
def _measured(
    start: Callable[[Path], PrivateServer], settings: Mapping[str, str]
) -> Iterator[Database]:
    with server_folder() as folder:
        server = start(folder)
        try:
            # Of two equal options the last one counts, so these replace those of the tests.
            options = [f"--{name}={value}" for name, value in settings.items()]
            server.command = [*server.command, *options]
            server.restart(immediate=False)
            yield Database(server.create_database(), server.process.pid)
        finally:
            server.stop()
