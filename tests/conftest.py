"""What most tests hold: a database of each sort, a store on it, and a hand on its clock."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import pytest
from hypothesis import settings

pytest.register_assert_rewrite("tenure.testing.conformance")

from tenure import Settings, Tenure  # noqa: E402
from tenure.stores.sql.store import SqlStore  # noqa: E402
from tenure.testing.clock import ManualClock  # noqa: E402
from tenure.testing.conformance.endings_table import pytest_terminal_summary  # noqa: E402
from tenure.testing.tempo import Tempo  # noqa: E402
from tests.support.brokers import rabbitmq_from_environment, start_rabbitmq  # noqa: E402
from tests.support.databases import (  # noqa: E402
    Databases,
    OpenStores,
    ServerDatabases,
    SqliteFiles,
    databases_on,
)
from tests.support.longest_first import longest_first  # noqa: E402
from tests.support.servers import (  # noqa: E402
    PrivateServer,
    Server,
    ServerMissing,
    mysql_from_environment,
    postgres_from_environment,
    server_folder,
    start_mariadb,
    start_postgres,
)

__all__ = ["pytest_terminal_summary"]

# Applications may be installed beside Tenure; the tests are about what Tenure brings itself.
os.environ["TENURE_FEATURES"] = "documents,files,outbox,schedules,transfer"

DIALECTS = ["sqlite", "postgres", "mysql"]
IN_CI = os.environ.get("CI") == "true"

settings.register_profile("tenure", deadline=None)
settings.load_profile("tenure")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files first. `make test` keeps this order."""
    items[:] = longest_first(items)


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Tenure]:
    """An app on an empty SQLite file, for rules that do not depend on the database."""
    made = Tenure(f"sqlite:///{tmp_path / 'jobs.db'}", settings=Settings(lease_seconds=30))
    yield made
    made.close()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL server: the one that is named, else one of our own."""
    with serve(postgres_from_environment(), start_postgres) as server:
        yield server


@pytest.fixture(scope="session")
def mysql() -> Iterator[Server]:
    """A MariaDB or MySQL server: the one that is named, else one of our own."""
    with serve(mysql_from_environment(), start_mariadb) as server:
        yield server


@pytest.fixture(scope="session")
def rabbitmq() -> Iterator[Server]:
    """A RabbitMQ: the one that is named, else one of our own."""
    with serve(rabbitmq_from_environment(), start_rabbitmq) as broker:
        yield broker


@contextmanager
def serve(named: Server | None, start: Callable[[Path], PrivateServer]) -> Iterator[Server]:
    """A missing server is a skip on a laptop and a failure where everything must run."""
    if named is not None:
        yield named
        return
    with server_folder() as folder:
        try:
            server = start(folder)
        except ServerMissing as missing:
            if IN_CI:
                pytest.fail(f"CI runs every test, but there is no {missing}")
            pytest.skip(f"not installed: {missing}")
        try:
            yield server
        finally:
            server.stop()


@pytest.fixture(scope="session")
def sqlite_databases(tmp_path_factory: pytest.TempPathFactory) -> SqliteFiles:
    """SQLite files."""
    return SqliteFiles(tmp_path_factory.mktemp("sqlite"))


@pytest.fixture(scope="session")
def postgres_databases(postgres: Server) -> Iterator[ServerDatabases]:
    """Databases on the PostgreSQL server."""
    with databases_on(postgres) as databases:
        yield databases


@pytest.fixture(scope="session")
def mysql_databases(mysql: Server) -> Iterator[ServerDatabases]:
    """Databases on the MariaDB or MySQL server."""
    with databases_on(mysql) as databases:
        yield databases


@pytest.fixture(params=DIALECTS)
def dialect(request: pytest.FixtureRequest) -> str:
    """The name of a database; a test that asks for it runs on each of them."""
    return cast(str, request.param)


@pytest.fixture
def databases(dialect: str, request: pytest.FixtureRequest) -> Databases:
    """Where databases of this sort come from."""
    return cast(Databases, request.getfixturevalue(f"{dialect}_databases"))


@pytest.fixture
def database_url(databases: Databases, tmp_path: Path) -> str:
    """A database with our schema and no rows."""
    return databases.empty(tmp_path)


@pytest.fixture
def fresh_database_url(databases: Databases, tmp_path: Path) -> str:
    """A database with nothing in it."""
    return databases.fresh(tmp_path)


@pytest.fixture(scope="session")
def turned_by_hand() -> ManualClock:
    """The one manual clock of the session: stores that stay open keep theirs."""
    return ManualClock()


@pytest.fixture(params=["manual_clock", "real_clock"])
def clock(request: pytest.FixtureRequest, turned_by_hand: ManualClock) -> ManualClock | None:
    """A clock for the store, or none: then the database's own counts."""
    return turned_by_hand if request.param == "manual_clock" else None


@pytest.fixture(scope="session")
def open_stores() -> Iterator[OpenStores]:
    """Stores on servers stay open: connecting costs more than most tests."""
    stores = OpenStores()
    yield stores
    stores.close()


@pytest.fixture
def store(
    database_url: str, clock: ManualClock | None, open_stores: OpenStores
) -> Iterator[SqlStore]:
    """An empty store."""
    with open_stores.on(database_url, clock) as opened:
        yield opened


@pytest.fixture
def tempo(store: SqlStore, clock: ManualClock | None) -> Tempo:
    """How time passes for the store."""
    return Tempo(store, clock)
