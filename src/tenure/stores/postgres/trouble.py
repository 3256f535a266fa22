"""What PostgreSQL's SQLSTATEs mean for us: by the whole code, else by its class."""

from __future__ import annotations

from collections.abc import Mapping

import psycopg

from tenure.stores.sql.dialect import Trouble, without_code

CODES: Mapping[str, Trouble] = {
    # Between our look at a unique key and our write somebody else took it; looking again helps.
    "23505": Trouble.AGAIN,
    "55P03": Trouble.LOCKED,  # lock_timeout, NOWAIT
    "57014": Trouble.UNABLE,  # statement_timeout, pg_cancel_backend
    "55006": Trouble.UNABLE,  # object in use
    "40003": Trouble.LOST,  # nobody knows whether the statement was completed
    "25006": Trouble.LOST,  # it only reads since a failover: another connection finds the primary
    "25P03": Trouble.LOST,  # idle_in_transaction_session_timeout
    "25P04": Trouble.LOST,  # transaction_timeout
    "57P01": Trouble.LOST,  # it stops
    "57P02": Trouble.LOST,  # it crashed
    "57P03": Trouble.LOST,  # it starts
    "57P04": Trouble.LOST,  # the database was dropped
    "57P05": Trouble.LOST,  # idle_session_timeout
    "3D000": Trouble.LOST,  # there is no such database, here or yet
}
CLASSES: Mapping[str, Trouble] = {
    "08": Trouble.LOST,  # connections
    "28": Trouble.LOST,  # it does not let us in
    "40": Trouble.AGAIN,  # deadlock, serialization failure
    "53": Trouble.UNABLE,  # disk full, out of memory, too many connections
    "58": Trouble.UNABLE,  # the operating system fails it
    "22": Trouble.REFUSED,  # data exceptions
    "23": Trouble.REFUSED,  # constraints
    "44": Trouble.REFUSED,  # WITH CHECK OPTION
    "54": Trouble.REFUSED,  # beyond a limit of the program, such as the size of an index row
}


def trouble(error: BaseException) -> Trouble:
    """By SQLSTATE; an operational error without one comes from the network."""
    if not isinstance(error, psycopg.Error):
        return without_code(error)
    code = error.sqlstate
    if code is not None:
        return CODES.get(code) or CLASSES.get(code[:2], Trouble.OTHER)
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return Trouble.LOST
    unsendable = isinstance(error, psycopg.DataError | psycopg.ProgrammingError)
    return Trouble.REFUSED if unsendable else Trouble.OTHER
