"""Engines of a command: opened for it, and closed when it ends."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar

from tenure.app import Tenure
from tenure.core.errors import StoreUnavailable
from tenure.settings import Settings
from tenure.stores.open import dialect_of
from tenure.stores.sql.store import SqlStore
from tenure.stores.sql.store import sql_store as as_sql

VARIABLE = "TENURE_DATABASE_URL"
_command: ContextVar[ExitStack | None] = ContextVar("tenure_command", default=None)


class NoDatabaseFile(StoreUnavailable):
    """There is no such SQLite file, and a command that only looks does not make one."""

    code = "no_database_file"

    def __init__(self, path: str) -> None:
        super().__init__(
            f"there is no SQLite file {path!r}; tenure migrate creates it, "
            f"and --database URL or {VARIABLE} names another database"
        )


@contextmanager
def closing_engines() -> Iterator[None]:
    """Whatever engine is opened inside is closed at the end."""
    with ExitStack() as stack:
        token = _command.set(stack)
        try:
            yield
        finally:
            _command.reset(token)


def remember(engine: Tenure) -> Tenure:
    """To be closed when the command ends."""
    if (stack := _command.get()) is not None:
        stack.callback(engine.close)
    return engine


def open_engine(database: str | None) -> Tenure:
    """An engine without handlers that may create its SQLite file: for enqueue and migrate."""
    check_url(database)
    return remember(Tenure(database))


def open_existing(database: str | None) -> Tenure:
    """An engine for looking and for operator's moves: it neither creates nor migrates."""
    settings = Settings()
    url = settings.database_url if database is None else database
    require_file(url)
    return remember(Tenure(url, settings=settings.model_copy(update={"auto_migrate": False})))


def require_file(url: str) -> None:
    """NoDatabaseFile where opening it would create it."""
    if path := missing_file(url):
        raise NoDatabaseFile(path)


def check_url(database: str | None) -> None:
    """What `--database` says is taken at its word: an empty one is a wrong one, not the default."""
    if database is not None:
        dialect_of(database)


def missing_file(url: str) -> str | None:
    """The SQLite file of this URL, where it does not exist."""
    path: str | None = getattr(dialect_of(url), "path", None)
    return None if path is None or os.path.exists(path) else path


def sql_store(engine: Tenure) -> SqlStore:
    """The store with its migrations, or CapabilityError if it is not on SQL."""
    return as_sql(engine.store)
