"""Operators' moves and purging, one bounded chunk at a time."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from tenure.core.clock import to_micros
from tenure.core.errors import OptionError
from tenure.core.filter import JobFilter
from tenure.core.job import DEAD_LETTERS, FINAL_STATES
from tenure.stores.contract import Change, Changed, Move
from tenure.stores.sql import rows
from tenure.stores.sql.statement import Batch, Plan, Statement
from tenure.stores.sql.where import conditions

ENTRIES = {Move.CANCEL: "canceled", Move.RETRY: "retried", Move.REPRIORITISE: "reprioritised"}


def change(where: JobFilter, move: Change, after: str | None, limit: int) -> Plan[Changed]:
    """The next chunk behind `after`; `next` is None at the end."""
    names, values = conditions(where)
    values.update(after=_position(after), limit=limit)
    picked = yield Statement("pick_jobs", values, where=names)
    ids = [row[0] for row in picked]
    if not ids:
        return Changed()
    asked = yield from _request_cancel(ids, move)
    moved = yield Statement(f"move_{move.move}", {"ids": ids, "priority": move.priority})
    if moved:
        lines = [(row[0], row[1], 0, ENTRIES[move.move], move.actor, None) for row in moved]
        yield Statement("add_history", batch=Batch(rows.HISTORY_COLUMNS, lines))
    done = asked | {row[0] for row in moved}
    return Changed(
        matched=len(ids),
        changed=len(done),
        refused=[str(found) for found in ids if found not in done],
        next=str(ids[-1]) if len(ids) == limit else None,
    )


def _position(after: str | None) -> int:
    found = 0 if after is None else rows.row_id(after)
    if found is None:
        raise OptionError(f"{after!r} is not a position in this move")
    return found


def _request_cancel(ids: list[int], move: Change) -> Plan[set[int]]:
    if move.move is not Move.CANCEL:
        return set()
    return {row[0] for row in (yield Statement("move_request_cancel", {"ids": ids}))}


def purge(where: JobFilter, before: datetime, limit: int) -> Plan[int]:
    """Finished jobs with all that hangs on them; keys whose window is over go too."""
    names, values = conditions(where)
    values.update(before=to_micros(before), limit=limit, purgeable=_purgeable(where))
    ids = [row[0] for row in (yield Statement("purge_jobs", values, where=names))]
    if ids:
        yield Statement("purge_history", {"ids": ids})
        yield Statement("purge_logs", {"ids": ids})
        yield Statement("purge_payloads", {"ids": ids})
    yield Statement("purge_windows")
    return len(ids)


def _purgeable(where: JobFilter) -> list[Any]:
    named = where.states or tuple(state for state in FINAL_STATES if state not in DEAD_LETTERS)
    return [rows.CODES[state] for state in named if state.final]
