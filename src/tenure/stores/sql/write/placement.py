"""Jobs that were added without knowing their handler get what it says, as soon as one is known."""

from __future__ import annotations

from collections.abc import Mapping

from tenure.core.job import Placement, open_fields
from tenure.stores.sql.statement import Batch, Plan, Row, Statement

AT_ONCE = 500
COLUMNS = ("id", *Placement._fields)


def place(handlers: Mapping[str, Placement]) -> Plan[list[str]]:
    """The queue of every job that was placed, bounded: the next call places the rest."""
    values = {"kinds": list(handlers), "limit": AT_ONCE}
    found = yield Statement("find_unplaced", values)
    if not found:
        return []
    lines = sorted(_line(row, handlers[row[1]]) for row in found)
    yield Statement("place_jobs", batch=Batch(COLUMNS, lines))
    return [handlers[row[1]].queue for row in found]


def _line(row: Row, handler: Placement) -> Row:
    """None where the caller has spoken."""
    said = dict(zip(Placement._fields, handler, strict=True))
    missing = open_fields(row[2])
    return (row[0], *(said[name] if name in missing else None for name in Placement._fields))
