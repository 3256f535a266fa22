"""A database that nobody may use now: one that is being filled by `tenure move`, or was moved away.

The mark is a row of the schema's bookkeeping that serves no code, so older code refuses too.
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
    """What is written on it, where something is."""
    if not database.dialect.has_table(connection, "tenure_migrations"):
        return None
    found = database.execute(connection, Statement("read_mark"))
    return str(found[0][0]) if found else None


def put_mark(database: Database, connection: Any, text: str) -> None:
    """In place of any other."""
    remove_mark(database, connection)
    database.execute(connection, Statement("put_mark", {"name": text[:LONGEST_MARK]}))


def remove_mark(database: Database, connection: Any) -> None:
    """Everybody may use it again."""
    database.execute(connection, Statement("remove_mark"))


def shut(database: Database, connection: Any) -> None:
    """Refuse new jobs and changes also to programs that have looked at the mark already."""
    _run(database, connection, Statement("shut_jobs"))


def unshut(database: Database, connection: Any) -> None:
    """Take them again."""
    _run(database, connection, Statement("open_jobs"))


def check_open(database: Database, connection: Any) -> None:
    """Raise where it is marked."""
    mark = read_mark(database, connection)
    if mark is not None:
        raise DatabaseClosed("; ".join(explain(mark)))


def explain(mark: str) -> tuple[str, str]:
    """What it means, and what to do."""
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
    """Every step, one after the other; none has values."""
    cursor = connection.cursor()
    try:
        for step in database.queries.get(script.name).steps:
            cursor.execute(step)
    finally:
        cursor.close()
