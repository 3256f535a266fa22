"""Removes finished jobs, one bounded chunk at a time, in id order.

A chunk looks at a bounded number of rows, whether it may remove them or not, so its cost does not
depend on what is in the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from tenure.core.filter import JobFilter
from tenure.core.rules.retention import ORDINARY, Purged
from tenure.core.timing.clock import from_micros
from tenure.stores.sql import rows
from tenure.stores.sql.endings.endings import Endings
from tenure.stores.sql.ids import chunk_position
from tenure.stores.sql.read.conditions import conditions, moment
from tenure.stores.sql.statement import Plan, Statement
from tenure.stores.sql.write import held_jobs

# Rows looked at for each one that may be removed.
WALKED_FOR_EACH = 10
LEAST_WALKED = 1_000
GATES_KEPT = 3_600_000_000  # an hour, in microseconds: a full bucket needs no row


class Edge(NamedTuple):
    """A row of `purge_edge`: the last row of a chunk's walk, and when that job was created."""

    id: int
    created_at: int


def purge(
    where: JobFilter, before: datetime, limit: int, after: str | None, endings: Endings
) -> Plan[Purged]:
    """The next chunk behind `after`: jobs with all that belongs to them, and keys that expired."""
    names, values = conditions(where)
    values.update(before=moment("before", before), purgeable=_purgeable(where), limit=limit)
    values.update(after=chunk_position(after))
    edge = yield from _edge(where, names, values)
    values.update(edge=rows.LAST_ID if edge is None else edge.id)
    picked = [number for (number,) in (yield Statement("pick_purgeable", values, where=names))]
    links = yield from held_jobs.ahead(picked)
    strange = {link.id: link.kind for link in links if endings.is_strange(link)}
    removed = yield from _remove(
        [number for number in picked if number not in strange], links, values, endings
    )
    keys = len((yield Statement("purge_windows", {"limit": limit})))
    yield Statement("purge_gates", {"limit": limit, "age": GATES_KEPT})
    done = Purged(removed=removed, keys=keys, left=frozenset(strange.values()))
    yield Statement("purge_rules", {"limit": limit, "age": GATES_KEPT})
    if len(picked) == limit:
        return replace(done, next=str(picked[-1]))
    if edge is None:
        return done
    return replace(done, next=str(edge.id), reached=from_micros(edge.created_at))


def _edge(where: JobFilter, names: tuple[str, ...], values: dict[str, Any]) -> Plan[Edge | None]:
    """The last row that this chunk looks at; None if it reaches the end of the table.

    Jobs named by id need no walk. Failed and dead jobs have an index of their own to walk on.
    """
    if where.ids is not None:
        return None
    walked = max(LEAST_WALKED, values["limit"] * WALKED_FOR_EACH) - 1
    asked = {"after": values["after"], "walked": walked}
    letters = ("letters",) if "letters" in names else ()
    found = yield Statement("purge_edge", asked, where=letters)
    return Edge(*found[0]) if found else None


def _remove(
    picked: list[int], links: Sequence[held_jobs.Link], values: dict[str, Any], endings: Endings
) -> Plan[int]:
    """Remove those that are still finished; rows that are locked stay for the next purge."""
    if not picked:
        return 0
    concerned = yield from endings.to_purge(picked)
    still = {"ids": picked, "before": values["before"], "purgeable": values["purgeable"]}
    ids = [number for (number,) in (yield Statement("purge_jobs", still))]
    if ids:
        yield from held_jobs.let_go(links, endings)
        yield Statement("purge_history", {"ids": ids})
        yield Statement("purge_logs", {"ids": ids})
        yield Statement("purge_payloads", {"ids": ids})
        yield Statement("purge_after", {"ids": ids})
        yield Statement("purge_steps", {"ids": ids})
        if concerned:
            gone = set(ids)
            yield from endings.purged([job for job in concerned if int(job.id) in gone])
    return len(ids)


def _purgeable(where: JobFilter) -> list[Any]:
    named = ORDINARY if where.states is None else where.states
    return [rows.CODES[state] for state in named if state.final]
