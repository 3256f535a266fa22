"""From a URL to a store: a typo says what was meant, and a password is never shown."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tenure.core.errors import MigrationsPending, StoreError, StoreUnavailable, UrlError
from tenure.core.filter import JobFilter
from tenure.stores import open_store
from tenure.stores.contract import Store
from tenure.stores.sql.store import sql_store
from tests.support.databases import Databases

SECRET = "hunter2"


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("postgrsql://u@h/d", "did you mean postgresql://"),
        ("sqllite:///x.db", "did you mean sqlite://"),
        ("mysq://u@h/d", "did you mean mysql://"),
        ("oracle://u@h/d", "is not a database Tenure knows"),
        ("tenure.db", "is not a database URL"),
        ("", "is not a database URL"),
        ("postgresql://u@h", "needs a host and a database name"),
        ("postgresql:///name", "needs a host and a database name"),
        ("mysql://u@h/", "needs a host and a database name"),
        ("mysql://u@h:port/d", "cannot be read"),
        ("sqlite://", "names no file"),
        ("sqlite:///", "names no file"),
        ("sqlite://file.db", "names no file"),
        ("sqlite:///:memory:", "name a file"),
        ("sqlite:///x.db?timeout=5", "'timeout' is not an option"),
        ("mysql://u@h/d?charset=utf8", "'charset' is not an option"),
        ("mysql://u@h/d?ssl_caa=x", "did you mean ssl_ca"),
        ("postgresql://u@h/d?sslmod=require", "did you mean sslmode"),
        ("postgresql://u@h/d?sslmode=require&pool=5", "'pool' is not an option"),
    ],
)
def test_a_url_that_cannot_be_understood_says_why(url: str, words: str) -> None:
    with pytest.raises(UrlError, match=words):
        open_store(url)


@pytest.mark.parametrize(
    "url",
    [
        f"postgrsql://ada:{SECRET}@h/d",
        f"ada:{SECRET}@h/d",
        f"postgresql://ada:{SECRET}@h",
        f"mysql://ada:{SECRET}@h:port/d",
        f"mysql://ada:{SECRET}/x@h/d",
        f"mysql://ada:x/{SECRET}@h/d",
        f"mysql://ada:x://{SECRET}@h:port/d",
        f"mysql://ada:{SECRET}@h/",
        f"postgresql://ada:{SECRET}@h:99999/d",
    ],
)
def test_a_password_is_never_in_the_message(url: str) -> None:
    with pytest.raises(UrlError) as refused:
        open_store(url)

    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("dialect", ["postgres", "mysql"], indirect=True)
def test_a_certificate_that_is_named_is_used(database_url: str) -> None:
    scheme = database_url.partition("://")[0]
    name = {"postgresql": "sslrootcert", "mysql": "ssl_ca"}[scheme]
    mode = "&sslmode=verify-ca" if scheme == "postgresql" else ""
    store = open_store(f"{database_url}?{name}=/missing/ca.pem{mode}")

    with pytest.raises(StoreUnavailable):
        store.now()


def test_opening_a_store_touches_nothing(tmp_path: Path) -> None:
    open_store(f"sqlite:///{tmp_path}/new.db").close()

    assert list(tmp_path.iterdir()) == []


def test_a_sqlite_file_gets_its_schema_at_first_use(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/new.db")

    assert store.jobs.count(JobFilter()) == {}
    store.close()


def test_a_sqlite_file_may_be_told_to_wait_for_its_schema(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/new.db", auto_migrate=False)

    with pytest.raises(MigrationsPending, match="tenure migrate"):
        store.now()
    store.close()


def test_a_path_may_have_blanks_and_percent_signs(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/my%20own%25.db")
    store.now()
    store.close()

    assert (tmp_path / "my own%.db").exists()


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/missing/new.db")

    with pytest.raises(StoreError, match="missing"):
        store.now()


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a database, but long enough to be looked at" * 50)
    store = open_store(f"sqlite:///{tmp_path}/notes.txt")

    with pytest.raises(StoreError, match=r"notes\.txt"):
        store.now()


@pytest.mark.parametrize("scheme", ["postgresql", "mysql"])
def test_a_server_that_cannot_be_reached_is_unavailable(scheme: str) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        port = nobody.getsockname()[1]
        store = open_store(f"{scheme}://ada:{SECRET}@127.0.0.1:{port}/jobs")

        with pytest.raises(StoreUnavailable) as unavailable:
            store.now()

    assert unavailable.value.retryable
    assert SECRET not in str(unavailable.value)


@pytest.mark.parametrize("dialect", ["postgres", "mysql"], indirect=True)
def test_a_database_that_is_not_there_is_a_store_error(
    databases: Databases, tmp_path: Path
) -> None:
    store = open_store(databases.fresh(tmp_path) + "_missing")

    with pytest.raises(StoreError):
        store.now()


def test_every_name_of_a_server_scheme_opens(database_url: str) -> None:
    other = {"postgresql": "postgres", "mysql": "mariadb", "sqlite": "sqlite"}
    scheme, _, rest = database_url.partition("://")
    store: Store = open_store(f"{other[scheme]}://{rest}")

    assert store.jobs.count(JobFilter()) == {}
    store.close()


def test_a_store_tells_database_and_version(database_url: str) -> None:
    store = sql_store(open_store(database_url))
    words = store.version().split()

    assert words[0] in {"SQLite", "PostgreSQL", "MySQL", "MariaDB"}
    assert words[1][0].isdigit()
    store.close()


def test_a_closed_store_opens_again_at_its_next_use(database_url: str) -> None:
    store = sql_store(open_store(database_url))
    store.now()
    store.close()

    assert store.jobs.count(JobFilter()) == {}
    store.close()
