"""A process that is killed at a chosen statement, as the driver sends it."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
from collections.abc import Callable
from typing import Any

import psycopg
import pymysql

from tenure.stores.sqlite import dialect as sqlite_dialect

CHANGE = re.compile(r"^\s*(CREATE|ALTER|DROP|INSERT|UPDATE|DELETE|COMMIT)\b", re.IGNORECASE)


def killed_at(change: int, action: Callable[[], object]) -> bool:
    """Run it in a process of its own that is killed before its n-th change; whether it was."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            _kill_before(change)
            action()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return True
    assert os.WEXITSTATUS(status) == 0, "the process failed before it was killed"
    return False


def _kill_before(change: int) -> None:
    """In this process, for good: the drivers count what they are told to run."""
    left = [change]

    def hear(sql: Any) -> None:
        text = sql.decode() if isinstance(sql, bytes) else str(sql)
        left[0] -= bool(CHANGE.match(text))
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    _hear_postgres(hear)
    _hear_mysql(hear)
    _hear_sqlite(hear)


def _hear_postgres(hear: Callable[[Any], None]) -> None:
    execute = psycopg.Cursor.execute

    def heard(self: Any, query: Any, *args: Any, **kwargs: Any) -> Any:
        hear(query)
        return execute(self, query, *args, **kwargs)

    psycopg.Cursor.execute = heard  # type: ignore[method-assign]


def _hear_mysql(hear: Callable[[Any], None]) -> None:
    query = pymysql.connections.Connection.query

    def heard(self: Any, sql: Any, *args: Any, **kwargs: Any) -> Any:
        hear(sql)
        return query(self, sql, *args, **kwargs)

    pymysql.connections.Connection.query = heard  # type: ignore[method-assign]


def _hear_sqlite(hear: Callable[[Any], None]) -> None:
    class Cursor(sqlite3.Cursor):
        def execute(self, sql: str, *args: Any) -> Any:
            hear(sql)
            return super().execute(sql, *args)

    class Connection(sqlite_dialect.Connection):
        def cursor(self, *args: Any) -> Any:
            return super().cursor(Cursor)

        def execute(self, sql: str, *args: Any) -> Any:
            return self.cursor().execute(sql, *args)

    sqlite_dialect.Connection = Connection  # type: ignore[misc]
