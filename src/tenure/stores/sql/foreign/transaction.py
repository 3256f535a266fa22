"""Runs a plan in the transaction it is given: one of ours, or a foreign one.

`adopt` finds the driver's connection inside what the user passed (a SQLAlchemy session, Django's
connection, a plain driver connection) and an executor for it. The commit stays the user's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from tenure.core.errors import NeedsImmediate, OptionError
from tenure.stores.sql.database import Database
from tenure.stores.sql.statement import Executor, Plan, drive
from tenure.stores.sql.transaction import Transaction

T = TypeVar("T")
DRIVERS = {"sqlite": ("sqlite3",), "postgres": ("psycopg", "psycopg2"), "mysql": ("pymysql",)}
SQLITE_BUSY_SNAPSHOT = 517


def run_in(database: Database, tx: Any, plan: Callable[[], Plan[T]]) -> T:
    """In `tx` if one is given, else in a transaction of its own."""
    if tx is None:
        return database.run(plan)
    with adopt(database, tx) as executor:
        return drive(plan(), executor)


def is_async(tx: Any) -> bool:
    """Whether this connection or session must be awaited."""
    kind = type(tx)
    return library(tx) == "asyncpg" or kind.__name__.startswith("Async")


def library(tx: Any) -> str:
    """The package that made this object."""
    return type(tx).__module__.partition(".")[0]


@contextmanager
def adopt(database: Database, tx: Any) -> Iterator[Executor]:
    """An executor on the connection inside `tx`."""
    if isinstance(tx, Transaction):
        yield _own(database, tx)
        return
    if is_async(tx):
        raise OptionError(f"{type(tx).__name__} is asynchronous: await enqueue_async(..., tx=...)")
    connection = _driver_connection(tx)
    _check_driver(database, connection)
    if database.before_adopting is not None:
        database.before_adopting(connection, inside_transaction(connection))
    executor = Transaction(database, connection)
    alone = outside_transaction(connection)
    if alone:
        database.dialect.begin(connection)
    try:
        yield executor
    except BaseException as error:
        if alone:
            database.dialect.rollback(connection)
        if getattr(error, "sqlite_errorcode", None) == SQLITE_BUSY_SNAPSHOT:
            raise NeedsImmediate from error
        raise
    finally:
        executor.end()
    if alone:
        database.dialect.commit(connection)


def _own(database: Database, tx: Transaction) -> Transaction:
    """One of our own transactions, which must be open and on the same database."""
    if tx.database is not database:
        raise OptionError("tx belongs to another database than these jobs")
    tx.connection  # noqa: B018 - raises where it has ended
    return tx


def _driver_connection(tx: Any) -> Any:
    match library(tx):
        case "sqlalchemy":
            return _from_sqlalchemy(tx)
        case "django" if hasattr(tx, "ensure_connection"):
            tx.ensure_connection()
            return tx.connection
        case _:
            return tx


def _from_sqlalchemy(tx: Any) -> Any:
    if not hasattr(tx, "exec_driver_sql") and not hasattr(tx, "connection"):
        return tx
    connection = tx if hasattr(tx, "exec_driver_sql") else tx.connection()
    if not connection.in_transaction():
        connection.begin()  # so that the caller's commit() knows there is something to commit
    return connection.connection.dbapi_connection


def _check_driver(database: Database, connection: Any) -> None:
    """Refuse a connection to another database: no worker would find the job there."""
    kind = f"{type(connection).__module__}.{type(connection).__name__}"
    names = {kind.__module__.partition(".")[0] for kind in type(connection).__mro__}
    if names.isdisjoint(DRIVERS[database.dialect.name]):
        raise OptionError(
            f"tx is a {kind}, but the jobs are in {database.dialect.name}: "
            "pass a connection to that database"
        )
    if not (hasattr(connection, "cursor") and hasattr(connection, "commit")):
        raise OptionError(f"tx is a {kind}: pass the connection itself")


def outside_transaction(connection: Any) -> bool:
    """Whether it is in autocommit mode with nothing open: then our statements need a BEGIN."""
    match library(connection):
        case "sqlite3":
            return connection.isolation_level is None and not connection.in_transaction
        case "psycopg":
            return bool(connection.autocommit) and connection.info.transaction_status.name == "IDLE"
        case "pymysql":
            return bool(connection.get_autocommit()) and not connection.server_status & 1
        case _:
            return False


def inside_transaction(connection: Any) -> bool:
    """Whether the user has a transaction or a snapshot open on it."""
    match library(connection):
        case "asyncpg":
            return bool(connection.is_in_transaction())
        case "psycopg":
            return bool(connection.info.transaction_status.name != "IDLE")
        case "psycopg2":
            return bool(connection.info.transaction_status)
        case "pymysql":
            return bool(connection.server_status & 1)
        case "sqlalchemy":
            return bool(connection.in_transaction())
        case _:
            return bool(getattr(connection, "in_transaction", True))


def committed_at_once(connection: Any) -> bool:
    """Whether what was just run on it has committed by itself."""
    if library(connection) == "asyncpg":
        return not connection.is_in_transaction()
    return outside_transaction(connection)
