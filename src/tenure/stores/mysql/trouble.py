"""What the numbers of MariaDB, MySQL and PyMySQL mean for us."""

from __future__ import annotations

import pymysql

from tenure.stores.sql.dialect import Trouble, without_code

NUMBERS = {
    Trouble.AGAIN: frozenset({
        1213, 1020, 1412, 1615, 1614,  # deadlock, a snapshot or a definition that is too old
        1062,  # somebody took the key between our look and our write: looking again helps
    }),
    Trouble.LOCKED: frozenset({1205, 3572}),  # lock wait timeout, NOWAIT
    Trouble.UNABLE: frozenset({
        1317, 3024, 1969,  # interrupted; max_execution_time; max_statement_time
        1021, 1114, 1041, 1037, 1038, 1135, 1206, 1637,  # disk, table, memory, threads, locks
        1040, 1203, 1226,  # too many connections, or more than this user may have or do
        3100, 1792,  # the group refuses the commit; a transaction that only reads
    }),
    Trouble.LOST: frozenset({
        2002, 2003, 2005, 2006, 2012, 2013, 2014, 2026, 2027, 2055,  # no way to the server
        1927, 4031, 1077, 1079, 1080, 1152, 1158, 1159, 1160, 1161, 1184, 3169,  # it has hung up
        1044, 1045, 1049, 1129, 1130, 1524, 1698, 1820, 1862, 3159,  # it does not let us in
        1053, 1047,  # it stops, or is no part of its cluster now
        1290, 1836,  # it only reads since a failover: another connection finds the new primary
        1026, 1030, 1180,  # writing or committing failed half way
    }),
    Trouble.REFUSED: frozenset({
        1048, 1264, 1265, 1292, 1300, 1366, 1367, 1406, 1411, 1441, 1690, 3988,  # values
        1118, 1153, 1301,  # too large
        1216, 1217, 1451, 1452, 3819, 4025,  # constraints
        3140, 3141, 3143, 3144, 3146, 3147, 3156, 3157, 4035, 4036, 4037, 4038, 4039, 4040,  # JSON
    }),
}  # fmt: skip
TROUBLES = {number: trouble for trouble, numbers in NUMBERS.items() for number in numbers}


def trouble(error: BaseException) -> Trouble:
    """By the server's or the driver's number; a closed connection has none."""
    if isinstance(error, pymysql.InterfaceError):
        return Trouble.LOST
    if not isinstance(error, pymysql.MySQLError):
        return without_code(error)
    found = TROUBLES.get(error.args[0]) if error.args else None
    if found is None and isinstance(error, pymysql.DataError):
        return Trouble.REFUSED
    return found or Trouble.OTHER
