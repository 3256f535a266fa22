"""A database that is closed: `tenure move` is filling it, or has moved its jobs elsewhere.

The mark is a row among the migrations that serves no version of the code, so older code refuses
the database too.
"""

from __future__ import annotations

from typing import Any

from tenure.core.errors import DatabaseClosed
from tenure.stores.sql.database import Database
from tenure.stores.sql.statement import Statement

FILLING = "filled from "
MOVED = "moved to "
LONGEST_MARK = 100


def read_mark(database: Database, connection: Any) -> str | None:
    """The mark, if there is one."""
    if not database.dialect.has_table(connection, "tenure_migrations"):
        return None
    for (text,) in database.execute(connection, Statement("read_mark")):
        return str(text)
    return None


def put_mark(database: Database, connection: Any, text: str) -> None:
    """Mark the database, in place of any other mark."""
    remove_mark(database, connection)
    database.execute(connection, Statement("put_mark", {"name": text[:LONGEST_MARK]}))


def remove_mark(database: Database, connection: Any) -> None:
    """Open the database again."""
    database.execute(connection, Statement("remove_mark"))


def shut(database: Database, connection: Any) -> None:
    """Refuse new jobs and changes, also from programs that have checked the mark already."""
    _run(database, connection, Statement("shut_jobs"))


def unshut(database: Database, connection: Any) -> None:
    """Accept new jobs and changes again."""
    _run(database, connection, Statement("open_jobs"))


def check_open(database: Database, connection: Any) -> None:
    """Raise DatabaseClosed if the database is marked."""
    mark = read_mark(database, connection)
    if mark is not None:
        raise DatabaseClosed("; ".join(explain(mark)))


def explain(mark: str) -> tuple[str, str]:
    """What the mark means, and what to do about it."""
    if mark.startswith(FILLING):
        return (
            "tenure move is filling this database, or was stopped while it did",
            "run the same tenure move again to finish it",
        )
    return (
        f"the jobs of this database were {mark}",
        "give this program the new address in TENURE_DATABASE_URL; to go back to this database: "
        "tenure move --reopen URL",
    )


def _run(database: Database, connection: Any, script: Statement) -> None:
    """Run every step of a query; none has values."""
    cursor = connection.cursor()
    try:
        for step in database.queries.get(script.name).steps:
            cursor.execute(step)
    finally:
        cursor.close()
