"""What the numbers of MariaDB, MySQL and PyMySQL mean for us."""

from __future__ import annotations

import pymysql

from tenure.stores.sql.dialect import Trouble

# Deadlock, lock wait, a snapshot that is too old; and 1062: between our look at a unique key and
# our write somebody else took it, so looking again helps.
AGAIN = frozenset({1213, 1205, 1020, 1062})

LOST = frozenset(
    {
        2002, 2003, 2006, 2013, 2055,  # no way to the server, or no longer
        1927, 4031, 1080, 1158, 1159, 1160, 1161, 1184,  # it has cut the connection
        1040, 1203, 1044, 1045, 1049, 1129, 1130, 1698,  # it lets nobody in, or not us
        1053, 1047,  # it stops, or is no part of its cluster now
        1290, 1836,  # it only reads since a failover: another connection finds the new primary
    }
)  # fmt: skip


def trouble(error: BaseException) -> Trouble:
    """By the server's or the driver's number; a closed connection has none."""
    if isinstance(error, OSError | pymysql.InterfaceError):
        return Trouble.LOST
    if not isinstance(error, pymysql.MySQLError):
        return Trouble.OTHER
    number = error.args[0] if error.args else None
    if number in AGAIN:
        return Trouble.AGAIN
    return Trouble.LOST if number in LOST else Trouble.OTHER
