"""A stocked SQLite file, and a database with nothing in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tenure.core.timing.clock import Clock
from tenure.features.transfer import Options, Transfer, open_end
from tests.features.transfer.shop import Shop
from tests.support.databases import SqliteFiles

OpenShop = Callable[..., Shop]
MakeTransfer = Callable[..., Transfer]
TABLES = {"files": "tenure.files.tables"}


@pytest.fixture
def open_shop() -> Iterator[OpenShop]:
    opened: list[Shop] = []

    def shop(url: str, clock: Clock | None = None) -> Shop:
        opened.append(Shop(url, clock))
        return opened[-1]

    yield shop
    for one in opened:
        one.app.close()


@pytest.fixture
def source_url(sqlite_databases: SqliteFiles, tmp_path: Path) -> str:
    """An empty SQLite file, beside the one that `dialect` may ask for."""
    folder = tmp_path / "outgrown"
    folder.mkdir()
    return sqlite_databases.empty(folder)


@pytest.fixture
def stocked(source_url: str, open_shop: OpenShop) -> Shop:
    shop = open_shop(source_url)
    shop.stock()
    return shop


@pytest.fixture
def transfer(source_url: str, fresh_database_url: str) -> Iterator[MakeTransfer]:
    """Transfers between the two; their ends are closed when the test ends."""
    with ExitStack() as stack:

        def make(
            *, source: str = source_url, target: str = fresh_database_url, **options: object
        ) -> Transfer:
            ends = [stack.enter_context(open_end(url, TABLES)) for url in (source, target)]
            return Transfer(ends[0], ends[1], Options(**options))  # type: ignore[arg-type]

        yield make
