"""What SQLite's result codes mean for us; of an extended code its last byte counts."""

from __future__ import annotations

import sqlite3

from tenure.stores.sql.dialect import Trouble, without_code

CODES = {
    sqlite3.SQLITE_BUSY: Trouble.AGAIN,  # the whole file is kept: nobody else can go on either
    sqlite3.SQLITE_LOCKED: Trouble.AGAIN,
    sqlite3.SQLITE_PROTOCOL: Trouble.AGAIN,
    sqlite3.SQLITE_SCHEMA: Trouble.AGAIN,
    sqlite3.SQLITE_ABORT: Trouble.AGAIN,
    sqlite3.SQLITE_FULL: Trouble.UNABLE,
    sqlite3.SQLITE_NOMEM: Trouble.UNABLE,
    sqlite3.SQLITE_INTERRUPT: Trouble.UNABLE,
    sqlite3.SQLITE_PERM: Trouble.UNABLE,
    sqlite3.SQLITE_IOERR: Trouble.LOST,
    sqlite3.SQLITE_CANTOPEN: Trouble.LOST,
    sqlite3.SQLITE_READONLY: Trouble.LOST,  # also a file that was moved: opening it again helps
    sqlite3.SQLITE_CONSTRAINT: Trouble.REFUSED,
    sqlite3.SQLITE_TOOBIG: Trouble.REFUSED,
    sqlite3.SQLITE_MISMATCH: Trouble.REFUSED,
    sqlite3.SQLITE_RANGE: Trouble.REFUSED,
}


class Busy(sqlite3.OperationalError):
    """Another thread of this process has kept the file for too long."""

    sqlite_errorcode = sqlite3.SQLITE_BUSY


def trouble(error: BaseException) -> Trouble:
    """By result code; what has none comes from the Python module."""
    code = getattr(error, "sqlite_errorcode", None)
    if isinstance(code, int):
        return CODES.get(code & 0xFF, Trouble.OTHER)
    if not isinstance(error, sqlite3.Error):
        return without_code(error)
    if "closed" in str(error):
        return Trouble.LOST
    unsendable = isinstance(error, sqlite3.ProgrammingError | sqlite3.InterfaceError)
    return Trouble.REFUSED if unsendable else Trouble.OTHER
