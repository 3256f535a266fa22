"""Operators' moves and purging, one bounded chunk at a time."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from tenure.core.errors import OptionError
from tenure.core.filter import JobFilter
from tenure.core.job import DEAD_LETTERS, FINAL_STATES, State
from tenure.stores.contract import Change, Changed, Move
from tenure.stores.sql import rows
from tenure.stores.sql.settle import LOG_COLUMNS
from tenure.stores.sql.statement import Batch, Plan, Rows, Statement
from tenure.stores.sql.where import conditions, moment

RUNNING = rows.CODES[State.RUNNING]
ENTRIES = {Move.CANCEL: "canceled", Move.RETRY: "retried", Move.REPRIORITISE: "reprioritised"}


def change(where: JobFilter, move: Change, after: str | None, limit: int) -> Plan[Changed]:
    """The next chunk behind `after`; `next` is None at the end."""
    names, values = conditions(where)
    values.update(after=_position(after), limit=limit)
    picked = [row[0] for row in (yield Statement("pick_jobs", values, where=names))]
    if not picked:
        return Changed()
    values.update(picked=picked)
    locked = yield Statement("lock_jobs", values, where=names)
    done = yield from _move(locked, move)
    return Changed(
        matched=len(locked),
        changed=len(done),
        refused=[str(row[0]) for row in locked if row[0] not in done],
        next=str(picked[-1]) if len(picked) == limit else None,
    )


def _move(locked: Rows, move: Change) -> Plan[set[int]]:
    """A cancel asks a running job to stop, and ends any other."""
    asking = [row[0] for row in locked if move.move is Move.CANCEL and row[1] == RUNNING]
    done: set[int] = set()
    if asking:
        asked = yield Statement("move_request_cancel", {"ids": asking})
        done = {row[0] for row in asked}
        yield from _note_who_asked(asked, move.actor)
    ids = [row[0] for row in locked if row[0] not in done]
    if not ids:
        return done
    moved = yield Statement(f"move_{move.move}", {"ids": ids, "priority": move.priority})
    if moved:
        lines = [(row[0], row[1], 0, ENTRIES[move.move], move.actor, None) for row in moved]
        yield Statement("add_history", batch=Batch(rows.HISTORY_COLUMNS, lines))
    return done | {row[0] for row in moved}


def _note_who_asked(asked: Rows, actor: str) -> Plan[None]:
    """The history line will be the holder's; who asked stands among the job's lines."""
    lines = [(row[0], row[1], None, "warning", f"cancel asked for by {actor}") for row in asked]
    if lines:
        yield Statement("add_logs", batch=Batch(LOG_COLUMNS, lines))


def _position(after: str | None) -> int:
    found = 0 if after is None else rows.row_id(after)
    if found is None:
        raise OptionError(f"{after!r} is not a position in this move")
    return found


def purge(where: JobFilter, before: datetime, limit: int) -> Plan[int]:
    """Finished jobs with all that hangs on them; keys whose window is over go too."""
    names, values = conditions(where)
    values.update(before=moment("before", before), limit=limit, purgeable=_purgeable(where))
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
