"""Open the engine of a command, and close it when the command ends."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar

from tenure.app import Tenure
from tenure.cli.kit.app_option import named_app
from tenure.core.errors import StoreUnavailable
from tenure.settings import Settings
from tenure.stores.open import dialect_of
from tenure.stores.sql.store import SqlStore
from tenure.stores.sql.store import sql_store as as_sql

VARIABLE = "TENURE_DATABASE_URL"
_command: ContextVar[ExitStack | None] = ContextVar("tenure_command", default=None)


class NoDatabaseFile(StoreUnavailable):
    """The SQLite file does not exist, and this command does not create it."""

    code = "no_database_file"

    def __init__(self, path: str) -> None:
        super().__init__(
            f"no SQLite file at {path!r}; create it with: tenure migrate, "
            f"or name another database with --database or {VARIABLE}"
        )


@contextmanager
def closing_engines() -> Iterator[None]:
    """Close every engine that is opened inside the block."""
    with ExitStack() as stack:
        token = _command.set(stack)
        try:
            yield
        finally:
            _command.reset(token)


def remember(engine: Tenure) -> Tenure:
    """Close this engine when the command ends."""
    if (stack := _command.get()) is not None:
        stack.callback(engine.close)
    return engine


def open_engine(database: str | None) -> Tenure:
    """An engine without handlers. It may create its SQLite file: for enqueue and migrate."""
    check_url(database)
    return remember(Tenure(database))


def open_existing(database: str | None) -> Tenure:
    """An engine that neither creates nor migrates: for commands that read or operate. With `--app`
    it is that app.
    """
    if (name := named_app()) is not None:
        from tenure.cli.kit.apps import load_existing  # it needs this module

        return load_existing(name, database)
    settings = Settings()
    url = settings.database_url if database is None else database
    require_file(url)
    return remember(Tenure(url, settings=settings.model_copy(update={"auto_migrate": False})))


def require_file(url: str) -> None:
    """Raise NoDatabaseFile if opening the URL would create a file."""
    if path := missing_file(url):
        raise NoDatabaseFile(path)


def check_url(database: str | None) -> None:
    """Raise UrlError for a bad `--database`. An empty one is an error, not the default."""
    if database is not None:
        dialect_of(database)


def missing_file(url: str) -> str | None:
    """The path of the SQLite file if it does not exist, else None."""
    path: str | None = getattr(dialect_of(url), "path", None)
    return None if path is None or os.path.exists(path) else path


def sql_store(engine: Tenure) -> SqlStore:
    """The store with its migrations, or CapabilityError if it is not on SQL."""
    return as_sql(engine.store)
