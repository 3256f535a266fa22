"""The connections of one process: opened at first use, kept for the next, reopened after a fork."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet

from tenure.core.errors import StoreUnavailable, TenureError
from tenure.stores.sql.dialect import Dialect, Trouble
from tenure.stores.sql.driver_errors import named_errors
from tenure.stores.sql.idle_connections import IdleConnections

Timed = Callable[[str, float], None]
"""Called with the name of a statement, COMMIT or CONNECTION, and the seconds that it took."""
CONNECTION = "CONNECTION"
Start = Callable[[Any], None]
"""Prepares a connection for its next use; fails if the connection is dead."""


class Connections:
    """Threads may share it. `before_use` is called with each new connection."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._idle = IdleConnections(dialect.close)
        self.before_use: Callable[[Any], None] | None = None
        self.timed: Timed | None = None
        if dialect.single_writer:
            _on_files.add(self)

    def take(self, start: Start) -> Any:
        """A started connection; its caller gives it back."""
        if self.timed is None:
            return self._kept_or_new(start)
        begun = time.perf_counter()
        connection = self._kept_or_new(start)
        self.timed(CONNECTION, time.perf_counter() - begun)
        return connection

    def give_back(self, connection: Any, healthy: bool) -> None:
        """Keep a healthy connection, close a broken one."""
        if healthy:
            self._idle.give_back(connection)
        else:
            self._dialect.close(connection)

    @contextmanager
    def lend(self, start: Start) -> Iterator[Any]:
        """A started connection for the length of a `with` block."""
        connection = self.take(start)
        healthy = False
        try:
            yield connection
            healthy = True
        except TenureError as error:
            healthy = not isinstance(error, StoreUnavailable)
            raise
        except Exception as error:
            healthy = self._dialect.trouble(error) is not Trouble.LOST
            raise
        finally:
            self.give_back(connection, healthy)

    @contextmanager
    def raw(self) -> Iterator[Any]:
        """A new connection without the check of the schema: for migrations and `doctor`."""
        with named_errors(self._dialect):
            connection = self._dialect.connect()
        try:
            yield connection
        finally:
            self._dialect.close(connection)

    def close(self) -> None:
        """Close idle connections. Those in use are closed when they are given back."""
        self._idle.close()

    def _kept_or_new(self, start: Start) -> Any:
        kept = self._idle.take()
        if kept is not None:
            try:
                start(kept)
            except Exception as error:
                self._dialect.close(kept)
                if self._dialect.trouble(error) is not Trouble.LOST:
                    raise
                self.close()  # the server was restarted, so the others are dead too
            else:
                return kept
        connection = self._new()
        try:
            with named_errors(self._dialect):
                start(connection)
        except BaseException:
            self._dialect.close(connection)
            raise
        return connection

    def _new(self) -> Any:
        with named_errors(self._dialect):
            connection = self._dialect.connect()
        if self.before_use is not None:
            try:
                self.before_use(connection)
            except BaseException:
                self._dialect.close(connection)
                raise
        return connection


_on_files: WeakSet[Connections] = WeakSet()


def _before_fork() -> None:
    """Close idle SQLite connections before a fork.

    POSIX file locks stay with the parent. A child that inherits the connection believes it holds
    them, and loses its writes when the parent closes the file.
    """
    for connections in list(_on_files):
        connections.close()


os.register_at_fork(before=_before_fork)
