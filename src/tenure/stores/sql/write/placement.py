"""Applies a handler's placement to jobs that were added before any process knew the handler."""

from __future__ import annotations

from collections.abc import Mapping

from tenure.core.job import Placement, open_fields
from tenure.stores.sql.statement import Batch, Plan, Row, Statement

AT_ONCE = 500
COLUMNS = ("id", *Placement._fields)


def place(handlers: Mapping[str, Placement]) -> Plan[list[str]]:
    """The queue of every job that was placed. Bounded: the next call places the rest."""
    values = {"kinds": list(handlers), "limit": AT_ONCE}
    found = yield Statement("find_unplaced", values)
    if not found:
        return []
    lines = sorted(_line(number, missing, handlers[kind]) for number, kind, missing in found)
    yield Statement("place_jobs", batch=Batch(COLUMNS, lines))
    return [handlers[kind].queue for _, kind, _ in found]


def _line(number: int, unplaced: int, handler: Placement) -> Row:
    """None in a column that the caller of enqueue has decided."""
    missing = open_fields(unplaced)
    said = handler._asdict()
    return (number, *(said[name] if name in missing else None for name in Placement._fields))
