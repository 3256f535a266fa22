"""Removing finished jobs, one bounded chunk at a time, in id order.

A chunk walks over a bounded number of rows whether they may go or not, so that its cost does not
depend on what is in the table.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from tenure.core.errors import OptionError
from tenure.core.filter import JobFilter
from tenure.core.rules.retention import ORDINARY, Purged
from tenure.core.timing.clock import from_micros
from tenure.stores.sql import rows
from tenure.stores.sql.read.conditions import conditions, moment
from tenure.stores.sql.statement import Plan, Row, Statement
from tenure.stores.sql.write import held_jobs as chain

WALKED_FOR_EACH = 10
LEAST_WALKED = 1_000
GATES_KEPT = 3_600_000_000


def purge(where: JobFilter, before: datetime, limit: int, after: str | None) -> Plan[Purged]:
    """The next chunk behind `after`: jobs with all that hangs on them, and keys that are over."""
    names, values = conditions(where)
    values.update(before=moment("before", before), purgeable=_purgeable(where), limit=limit)
    values.update(after=position(after))
    edge = yield from _edge(where, names, values)
    values.update(edge=rows.LAST_ID if edge is None else edge[0])
    picked = [row[0] for row in (yield Statement("pick_purgeable", values, where=names))]
    removed = yield from _remove(picked, values)
    keys = len((yield Statement("purge_windows", {"limit": limit})))
    yield Statement("purge_gates", {"limit": limit, "age": GATES_KEPT})
    if len(picked) == limit:
        return Purged(removed=removed, keys=keys, next=str(picked[-1]))
    if edge is None:
        return Purged(removed=removed, keys=keys)
    return Purged(removed=removed, keys=keys, next=str(edge[0]), reached=from_micros(edge[1]))


def _edge(where: JobFilter, names: tuple[str, ...], values: dict[str, Any]) -> Plan[Row | None]:
    """The last row of the walk, with its age; None where it goes to the end of the table.

    Named jobs need no walk, and dead letters have an index of their own to walk on.
    """
    if where.ids is not None:
        return None
    walked = max(LEAST_WALKED, values["limit"] * WALKED_FOR_EACH) - 1
    asked = {"after": values["after"], "walked": walked}
    letters = ("letters",) if "letters" in names else ()
    found = yield Statement("purge_edge", asked, where=letters)
    return found[0] if found else None


def _remove(picked: list[int], values: dict[str, Any]) -> Plan[int]:
    """Those that are still finished. What somebody has locked stays for another time."""
    if not picked:
        return 0
    links = yield from chain.ahead(picked)
    still = {"ids": picked, "before": values["before"], "purgeable": values["purgeable"]}
    ids = [row[0] for row in (yield Statement("purge_jobs", still))]
    if ids:
        yield from chain.let_go(links)
        yield Statement("purge_history", {"ids": ids})
        yield Statement("purge_logs", {"ids": ids})
        yield Statement("purge_payloads", {"ids": ids})
        yield Statement("purge_after", {"ids": ids})
        yield Statement("purge_steps", {"ids": ids})
    return len(ids)


def _purgeable(where: JobFilter) -> list[Any]:
    named = ORDINARY if where.states is None else where.states
    return [rows.CODES[state] for state in named if state.final]


def position(after: str | None) -> int:
    """A place between rows, as moves and purges hand it out."""
    found = 0 if after is None else rows.row_id(after)
    if found is None:
        raise OptionError(f"{after!r} is not a position in this move")
    return found
