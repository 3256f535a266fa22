"""Fresh private servers with the settings of a measurement: durable, and large enough."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import psycopg

from tests.support.servers import PrivateServer, server_folder, start_mariadb, start_postgres

# Durable as the defaults are; only memory and the distance of checkpoints differ from them.
POSTGRES = {
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "shared_buffers": "2GB",
    "max_wal_size": "8GB",
    "checkpoint_timeout": "15min",
}
MARIADB = {
    "innodb-flush-log-at-trx-commit": "1",
    "innodb-buffer-pool-size": "512M",
    "innodb-log-file-size": "1G",
}


def postgres_server(
    settings: Mapping[str, str] = POSTGRES,
) -> AbstractContextManager[PrivateServer]:
    """A PostgreSQL of its own, gone afterwards."""
    return _measured(start_postgres, settings)


def mariadb_server(settings: Mapping[str, str] = MARIADB) -> AbstractContextManager[PrivateServer]:
    """A MariaDB of its own, gone afterwards."""
    return _measured(start_mariadb, settings)


@contextmanager
def fresh(server: PrivateServer) -> Iterator[str]:
    """The URL of an empty database, dropped afterwards."""
    url = server.create_database()
    try:
        yield url
    finally:
        server.drop_database(url)


def calm(url: str) -> None:
    """A table in service has statistics and no checkpoint in the next seconds; one just filled
    has neither. Nothing to do on SQLite and MariaDB."""
    if url.startswith("postgresql"):
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")
            connection.execute("CHECKPOINT")


@contextmanager
def _measured(
    start: Callable[[Path], PrivateServer], settings: Mapping[str, str]
) -> Iterator[PrivateServer]:
    with server_folder() as folder:
        server = start(folder)
        try:
            # Of two equal options the last one counts, so these replace those of the tests.
            options = [f"--{name}={value}" for name, value in settings.items()]
            server.command = [*server.command, *options]
            server.restart(immediate=False)
            yield server
        finally:
            server.stop()
