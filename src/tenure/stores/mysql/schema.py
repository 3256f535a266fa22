"""Schema changes on MariaDB and MySQL, where each commits by itself and none can be taken back.

So a statement is first held against what is there: what a crash has left done is left out, clause
by clause. Only MariaDB has IF NOT EXISTS for columns and indexes, so the catalogue is asked.
"""

from __future__ import annotations

import hashlib
import random
import re
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pymysql
from pymysql.constants import ER
from pymysql.cursors import Cursor

from tenure.core.errors import StoreError
from tenure.stores.sql.dialect import MigrationStatement

OTHER_MIGRATOR_SECONDS = 60
LONGEST_WAIT_SECONDS = 2
ALTER_SECONDS = 180.0
IN_THE_WAY = frozenset({ER.LOCK_WAIT_TIMEOUT, ER.LOCK_DEADLOCK})

# ALGORITHM or LOCK is not possible for this change: 1221, 1845 and 1846.
NOT_ONLINE = frozenset({ER.WRONG_USAGE, 1845, 1846})

DDL = re.compile(r"^(ALTER|CREATE|DROP|RENAME|TRUNCATE)\b", re.IGNORECASE)
MAYBE = r"(?:/\*M!\s*)?(?:IF\s+(?:NOT\s+)?EXISTS\s+)?(?:\*/\s*)?"
ALTER = re.compile(r"^ALTER\s+TABLE\s+(\w+)\s+", re.IGNORECASE)
CLAUSE = re.compile(
    rf"^(ADD|DROP)\s+(?:UNIQUE\s+)?(COLUMN|KEY|INDEX)\s+{MAYBE}(\w+)", re.IGNORECASE
)
TABLE = re.compile(rf"^(CREATE|DROP)\s+TABLE\s+{MAYBE}(\w+)", re.IGNORECASE)
INDEX = re.compile(
    rf"^(CREATE|DROP)\s+(?:UNIQUE\s+)?INDEX\s+{MAYBE}(\w+)\s+ON\s+(\w+)", re.IGNORECASE
)

TABLES = (
    "SELECT 1 FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = %s"
)
OF_TABLE = {
    "COLUMN": "SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE() "
    "AND table_name = %s AND column_name = %s LIMIT 1",
    "INDEX": "SELECT 1 FROM information_schema.statistics WHERE table_schema = DATABASE() "
    "AND table_name = %s AND index_name = %s LIMIT 1",
}


class MysqlSchema:
    """See `tenure.stores.sql.dialect.SchemaChanges`."""

    atomic = False

    def __init__(self, database: str) -> None:
        self._database = database

    def locked(self, connection: Any) -> AbstractContextManager[None]:
        """By a named lock, as every change commits."""
        return locked(connection, self._database)

    def online(self, sql: str) -> str:
        """With the words that refuse to lock a table."""
        return online(sql)

    def change(self, connection: Any, step: MigrationStatement) -> None:
        """What of it is there already is left out."""
        change(connection, step)


@contextmanager
def locked(connection: Any, database: str) -> Iterator[None]:
    """One migrator at a time, and none beside a statement that a dead one has left running."""
    digest = hashlib.blake2b(database.encode(), digest_size=16).hexdigest()
    name = f"tenure_migrations:{digest}"
    if not _ask(connection, "SELECT GET_LOCK(%s, %s)", name, OTHER_MIGRATOR_SECONDS):
        raise StoreError(
            f"another process has been migrating for {OTHER_MIGRATOR_SECONDS} s; "
            "wait for its end, or try again"
        )
    try:
        yield
    finally:
        _ask(connection, "SELECT RELEASE_LOCK(%s)", name)


def online(sql: str) -> str:
    """With the words by which the server refuses rather than locks the table."""
    altered = ALTER.match(sql)
    if altered is None or re.search(r"\b(ALGORITHM|LOCK)\s*=", sql, re.IGNORECASE):
        return sql
    clauses = [CLAUSE.match(clause) for clause in split(sql[altered.end() :])]
    builds = any(found and _noun(found[2]) == "INDEX" and _adds(found) for found in clauses)
    return f"{sql}, {'ALGORITHM=INPLACE, ' if builds else ''}LOCK=NONE"


def change(connection: Any, step: MigrationStatement) -> None:
    """Run what is left of it, and note it; what is no schema change goes with its note."""
    schema_change = DDL.match(step.sql)
    if schema_change:
        left = missing(connection, step.sql)
        if left is not None:
            _alter(connection, left)
    connection.begin()
    try:
        if not schema_change:
            _execute(connection, step.sql)
        step.note()
    except BaseException:
        connection.rollback()
        raise
    connection.commit()


def missing(connection: Any, sql: str) -> str | None:
    """The part of a statement that is still to be done."""
    if altered := ALTER.match(sql):
        clauses = split(sql[altered.end() :])
        left = [one for one in clauses if not _clause_done(connection, altered[1], one)]
        return altered[0] + ",\n    ".join(left) if left else None
    if table := TABLE.match(sql):
        there = _ask(connection, TABLES, table[2]) is not None
        return None if there == _adds(table) else sql
    if index := INDEX.match(sql):
        there = _ask(connection, OF_TABLE["INDEX"], index[3], index[2]) is not None
        return None if there == _adds(index) else sql
    return sql


def _clause_done(connection: Any, table: str, clause: str) -> bool:
    found = CLAUSE.match(clause)
    if found is None:
        return False
    there = _ask(connection, OF_TABLE[_noun(found[2])], table, found[3]) is not None
    return there == _adds(found)


def _adds(found: re.Match[str]) -> bool:
    return found[1].upper() != "DROP"


def _noun(word: str) -> str:
    return "COLUMN" if word.upper() == "COLUMN" else "INDEX"


def split(clauses: str) -> list[str]:
    """At the commas that stand in no bracket and no quotes."""
    parts, depth, quote = [""], 0, ""
    for char in clauses:
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"`":
            quote = char
        elif char in "()":
            depth += 1 if char == "(" else -1
        elif char == "," and depth == 0:
            parts.append("")
            continue
        parts[-1] += char
    return [part.strip() for part in parts]


def _alter(connection: Any, sql: str) -> None:
    """Everybody queues behind a change that waits for a table, so it waits briefly, and again."""
    deadline = time.monotonic() + ALTER_SECONDS
    wait = 1
    while True:
        _execute(connection, f"SET SESSION lock_wait_timeout = {wait:d}")
        try:
            _execute_online(connection, sql)
        except pymysql.err.MySQLError as error:
            if error.args[0] not in IN_THE_WAY:
                raise
            if time.monotonic() > deadline:
                raise StoreError(
                    f"a table was in use for {ALTER_SECONDS:.0f} s: a transaction on it is open; "
                    "SHOW PROCESSLIST and information_schema.innodb_trx show whose"
                ) from error
            time.sleep(random.uniform(0.5, 1.5))  # noqa: S311
            wait = min(wait + 1, LONGEST_WAIT_SECONDS)
        else:
            return


def _execute_online(connection: Any, sql: str) -> None:
    """A change that cannot be made beside writers is made all the same."""
    try:
        _execute(connection, online(sql))
    except pymysql.err.MySQLError as error:
        if error.args[0] not in NOT_ONLINE or online(sql) == sql:
            raise
        _execute(connection, sql)


def _execute(connection: Any, sql: str) -> None:
    with connection.cursor(Cursor) as cursor:
        cursor.execute(sql)


def _ask(connection: Any, sql: str, *values: Any) -> Any:
    """The first column of the first row, where there is one."""
    with connection.cursor(Cursor) as cursor:
        cursor.execute(sql, values)
        for value, *_ in cursor.fetchall():
            return value
        return None
