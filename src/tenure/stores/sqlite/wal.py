"""Keeps the write-ahead log short: whoever commits past the limit copies it back into the file.

It holds the file's write lock meanwhile, so nobody appends and the next commit restarts the log. A
checkpoint then meets neither another one nor a commit, which the WAL-reset bug of old versions
would need. No thread and no lease: all processes on the file see the length of the log.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing, suppress
from functools import cached_property

LIMIT_BYTES = 16 * 1024 * 1024
PATIENCE_SECONDS = 1.0

# Ours never checkpoint by themselves, and cut the log back to the limit when it begins anew: so
# a longer one always means that there is something to copy.
SETTINGS = ("PRAGMA wal_autocheckpoint = 0", f"PRAGMA journal_size_limit = {LIMIT_BYTES}")


class Log:
    """The write-ahead log of one file."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._not_before = 0.0

    @cached_property
    def _file(self) -> str:
        """The log lies beside the real file, whichever links lead to it."""
        return f"{os.path.realpath(self._path)}-wal"

    @property
    def bytes(self) -> int:
        """Its present length."""
        try:
            return os.stat(self._file).st_size
        except OSError:  # nobody has the file open
            return 0

    def relieve(self, connection: sqlite3.Connection, busy_seconds: float) -> None:
        """Copy the log if it is long; after a commit, inside the writers' gate.

        If a reader of an old snapshot still needs the log, it is tried again later.
        """
        if self.bytes <= LIMIT_BYTES or time.monotonic() < self._not_before:
            return
        with suppress(sqlite3.Error):  # the commit has succeeded, whatever happens here
            if not self._copy(connection, busy_seconds):
                self._not_before = time.monotonic() + PATIENCE_SECONDS

    def _copy(self, connection: sqlite3.Connection, busy_seconds: float) -> bool:
        """Whether all of it is in the file now. If another process writes now, it will do it."""
        connection.execute("PRAGMA busy_timeout = 0")
        try:
            connection.execute("BEGIN IMMEDIATE")
            try:
                return self._checkpoint()
            finally:
                connection.execute("ROLLBACK")
        finally:
            connection.execute(f"PRAGMA busy_timeout = {int(busy_seconds * 1000)}")

    def _checkpoint(self) -> bool:
        """On its own connection, because the one with the write lock is in a transaction."""
        with closing(sqlite3.connect(self._path, timeout=0, isolation_level=None)) as own:
            for setting in SETTINGS:
                own.execute(setting)
            busy, pages, copied = own.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        return not busy and pages == copied
