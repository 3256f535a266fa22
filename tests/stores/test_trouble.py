"""What a driver's error means: one table per dialect, and what each class does to a call."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pymysql
import pytest

from tenure.core.errors import ContentRefused, StoreBusy, StoreUnavailable
from tenure.core.job import NewJob, State
from tenure.core.settlement import Settlement
from tenure.stores import open_store
from tenure.stores.contract import ClaimRequest, Written
from tenure.stores.mysql.trouble import NUMBERS
from tenure.stores.mysql.trouble import trouble as mysql_trouble
from tenure.stores.postgres.trouble import trouble as postgres_trouble
from tenure.stores.sql.dialect import Trouble
from tenure.stores.sql.store import SqlStore, sql_store
from tenure.stores.sqlite.trouble import Busy
from tenure.stores.sqlite.trouble import trouble as sqlite_trouble
from tenure.testing.conformance.actions import job_of, start_job, state_of
from tests.stores.test_foreign_transaction import connected
from tests.support.databases import Databases, migrate

SQLITE = pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
POSTGRES = pytest.mark.parametrize("dialect", ["postgres"], indirect=True)
MYSQL = pytest.mark.parametrize("dialect", ["mysql"], indirect=True)
SERVERS = pytest.mark.parametrize("dialect", ["postgres", "mysql"], indirect=True)

SQLSTATES = {
    Trouble.AGAIN: ["40001", "40P01", "23505"],
    Trouble.LOCKED: ["55P03"],
    Trouble.UNABLE: ["57014", "53100", "53200", "53300", "53400", "58030"],
    Trouble.LOST: ["08000", "08006", "57P01", "57P02", "57P03", "25006", "25P03", "40003", "28P01"],
    Trouble.REFUSED: ["22001", "22P05", "22021", "23502", "23514", "23503", "44000", "54000"],
    Trouble.OTHER: ["42P01", "42703", "42501", "0A000", "XX000", "P0001", "25P02"],
}
RESULT_CODES = {
    Trouble.AGAIN: [sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_BUSY_SNAPSHOT],
    Trouble.UNABLE: [sqlite3.SQLITE_FULL, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_INTERRUPT],
    Trouble.LOST: [
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_IOERR_FSYNC,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_READONLY,
    ],
    Trouble.REFUSED: [
        sqlite3.SQLITE_CONSTRAINT_CHECK,
        sqlite3.SQLITE_CONSTRAINT_TRIGGER,
        sqlite3.SQLITE_TOOBIG,
    ],
    Trouble.OTHER: [sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB],
}
UNKNOWN_NUMBERS = {Trouble.OTHER: [1146, 1054, 1142, 1064]}


def pairs(table: Any) -> list[Any]:
    return [(code, trouble) for trouble, codes in table.items() for code in sorted(codes)]


@pytest.mark.parametrize(("code", "expected"), pairs(SQLSTATES))
def test_a_sqlstate_says_what_to_do(code: str, expected: Trouble) -> None:
    class Coded(psycopg.OperationalError):
        sqlstate = code

    assert postgres_trouble(Coded()) is expected


@pytest.mark.parametrize(("number", "expected"), pairs(NUMBERS) + pairs(UNKNOWN_NUMBERS))
def test_a_number_of_mysql_says_what_to_do(number: int, expected: Trouble) -> None:
    assert mysql_trouble(pymysql.OperationalError(number, "")) is expected


def test_a_number_of_mysql_means_one_thing() -> None:
    assert sum(map(len, NUMBERS.values())) == len(set().union(*NUMBERS.values()))


@pytest.mark.parametrize(("code", "expected"), pairs(RESULT_CODES))
def test_a_result_code_says_what_to_do(code: int, expected: Trouble) -> None:
    error = sqlite3.OperationalError()
    error.sqlite_errorcode = code

    assert sqlite_trouble(error) is expected


@pytest.mark.parametrize(
    ("trouble", "error", "expected"),
    [
        (postgres_trouble, psycopg.OperationalError("server closed"), Trouble.LOST),
        (postgres_trouble, psycopg.DataError("NUL"), Trouble.REFUSED),
        (postgres_trouble, psycopg.ProgrammingError("cannot adapt"), Trouble.REFUSED),
        (mysql_trouble, pymysql.InterfaceError(0, ""), Trouble.LOST),
        (mysql_trouble, pymysql.DataError(9999, ""), Trouble.REFUSED),
        (sqlite_trouble, Busy(), Trouble.AGAIN),
        (sqlite_trouble, sqlite3.ProgrammingError("Cannot operate on a closed"), Trouble.LOST),
        (sqlite_trouble, sqlite3.ProgrammingError("binding"), Trouble.REFUSED),
    ],
)
def test_what_has_no_code_is_known_by_its_class(
    trouble: Callable[[BaseException], Trouble], error: Exception, expected: Trouble
) -> None:
    assert trouble(error) is expected


@pytest.mark.parametrize("trouble", [postgres_trouble, mysql_trouble, sqlite_trouble])
def test_pythons_own_errors_are_the_values_or_the_machines(
    trouble: Callable[[BaseException], Trouble],
) -> None:
    assert trouble(UnicodeEncodeError("utf-8", "\ud800", 0, 1, "")) is Trouble.REFUSED
    assert trouble(OverflowError()) is Trouble.REFUSED
    assert trouble(MemoryError()) is Trouble.UNABLE
    assert trouble(FileNotFoundError()) is Trouble.OTHER  # a handler's, inside its transaction
    assert trouble(KeyError()) is Trouble.OTHER


@contextmanager
def opened(url: str) -> Iterator[SqlStore]:
    store = sql_store(open_store(url))
    try:
        yield store
    finally:
        store.close()


def success(store: SqlStore, result: str = '"x"') -> Settlement:
    return Settlement(lease=start_job(store).lease, state=State.SUCCEEDED, result=result)


def any_job() -> ClaimRequest:
    return ClaimRequest(owner="w", kinds=["work"], slots={"default": 1}, lease_seconds=60)


def settle_now(store: SqlStore, item: Settlement) -> Written:
    return store.jobs.exchange([item], [], None)[0]


def assert_unavailable(store: SqlStore, item: Settlement, text: str) -> None:
    """Every call says so, none of them hangs, and nothing has changed."""
    for call in (
        lambda: settle_now(store, item),
        lambda: store.jobs.exchange([item], [], any_job()),
        lambda: store.jobs.add([NewJob(kind="work")]),
        lambda: store.jobs.extend([item.lease], 60),
    ):
        with pytest.raises(StoreUnavailable, match=text):
            call()
    assert state_of(store, item.lease.job_id) is State.RUNNING


@POSTGRES
def test_statement_timeout_is_no_failure(database_url: str) -> None:
    with (
        opened(f"{database_url}?options=-c%20statement_timeout%3D200") as store,
        connected(database_url) as other,
    ):
        item = success(store)
        other.execute("LOCK TABLE tenure_jobs IN EXCLUSIVE MODE")
        assert_unavailable(store, item, "statement timeout|lock timeout")
        other.rollback()

        assert settle_now(store, item).applied == {item.lease.job_id}


@POSTGRES
def test_a_standby_is_no_failure(database_url: str) -> None:
    only_reads = f"{database_url}?options=-c%20default_transaction_read_only%3Don"
    with opened(database_url) as store, opened(only_reads) as standby:
        item = success(store)

        assert_unavailable(standby, item, "read-only transaction")
        assert settle_now(store, item).applied == {item.lease.job_id}


@contextmanager
def server_setting(url: str, name: str, value: str, normal: str) -> Iterator[None]:
    """For sessions that begin from here on."""
    with connected(url) as connection:
        connection.cursor().execute(f"SET GLOBAL {name} = {value}")
        try:
            yield
        finally:
            connection.cursor().execute(f"SET GLOBAL {name} = {normal}")


@MYSQL
def test_max_statement_time_is_no_failure(database_url: str) -> None:
    with opened(database_url) as store, connected(database_url) as other:
        item = success(store)
        other.cursor().execute("LOCK TABLES tenure_jobs WRITE")
        with (
            server_setting(database_url, "max_statement_time", "0.2", "0"),
            opened(database_url) as hasty,
        ):
            for call in (
                lambda: settle_now(hasty, item),
                lambda: hasty.jobs.add([NewJob(kind="work")]),
            ):
                with pytest.raises(StoreUnavailable, match="max_statement_time"):
                    call()
        other.cursor().execute("UNLOCK TABLES")

        assert settle_now(store, item).applied == {item.lease.job_id}


@MYSQL
def test_a_server_that_only_reads_is_no_failure(database_url: str) -> None:
    with opened(database_url) as store:
        item = success(store)
        with (
            server_setting(database_url, "tx_read_only", "1", "0"),
            opened(database_url) as standby,
        ):
            assert_unavailable(standby, item, "READ ONLY transaction")

        assert settle_now(store, item).applied == {item.lease.job_id}


def each_connection(store: SqlStore, setting: str) -> None:
    """Connections of this store are set up like this from here on."""
    check = store.database.connections.before_use

    def set_up(connection: Any) -> None:
        if check is not None:
            check(connection)
        connection.execute(setting)

    store.database.connections.before_use = set_up
    store.database.close()


@SQLITE
def test_a_full_disk_is_no_failure(database_url: str) -> None:
    with opened(database_url) as store, opened(database_url) as cramped:
        item = success(store, result=f'"{"x" * 500_000}"')
        each_connection(cramped, "PRAGMA max_page_count = 1")  # as many as there are now

        for call in (
            lambda: settle_now(cramped, item),
            lambda: cramped.jobs.add([NewJob(kind="work", payload=item.result or "")]),
        ):
            with pytest.raises(StoreUnavailable, match="disk is full"):
                call()
        assert settle_now(store, item).applied == {item.lease.job_id}
        assert job_of(store, item.lease.job_id).result_json == item.result


@SQLITE
def test_a_file_that_may_only_be_read_is_no_failure(database_url: str) -> None:
    with opened(database_url) as store, opened(database_url) as reader:
        item = success(store)
        each_connection(reader, "PRAGMA query_only = 1")

        assert_unavailable(reader, item, "readonly database")
        assert settle_now(store, item).applied == {item.lease.job_id}


@SERVERS
def test_an_enqueue_behind_a_lock_ends_with_a_clear_error(
    database_url: str, dialect: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tenure.stores.sql.database.TRIES", 2)
    monkeypatch.setattr("tenure.stores.mysql.dialect.SETTINGS", ("SET innodb_lock_wait_timeout=1",))
    url = (
        f"{database_url}?options=-c%20lock_timeout%3D200" if dialect == "postgres" else database_url
    )
    job = NewJob(kind="work", ordering_key="k")
    with opened(url) as store, opened(database_url) as other, other.transaction() as tx:
        other.jobs.add([job], tx=tx)

        with pytest.raises(StoreBusy, match="other transactions were in the way 2 times"):
            store.jobs.add([job])


REFUSALS = {
    "postgres": "ALTER TABLE tenure_jobs ADD CONSTRAINT good CHECK (result <> '\"bad\"')",
    "mysql": "ALTER TABLE tenure_jobs ADD CONSTRAINT good CHECK (result <> '\"bad\"')",
    "sqlite": "CREATE TRIGGER good BEFORE UPDATE ON tenure_jobs WHEN new.result = '\"bad\"' "
    "BEGIN SELECT RAISE(ABORT, 'bad'); END",
}


@pytest.fixture
def strict_url(databases: Databases, dialect: str, tmp_path: Path) -> str:
    """A database that refuses one result."""
    url = databases.fresh(tmp_path)
    migrate(url)
    with connected(url) as connection:
        connection.cursor().execute(REFUSALS[dialect])
        connection.commit()
    return url


def test_a_row_that_is_refused_for_its_content_is_told_apart(strict_url: str) -> None:
    with opened(strict_url) as store:
        item = success(store, result='"bad"')

        with pytest.raises(ContentRefused, match="refuses a row"):
            settle_now(store, item)
        with pytest.raises(ContentRefused, match="refuses a row"):
            store.jobs.exchange([item], [], any_job())
        assert settle_now(store, item._replace(result='"good"')).applied
