"""Operators' moves, one bounded chunk at a time."""

from __future__ import annotations

from tenure.core.filter import JobFilter
from tenure.core.job import State
from tenure.stores.contract import Change, Changed, Move
from tenure.stores.sql import rows
from tenure.stores.sql.read.conditions import conditions
from tenure.stores.sql.statement import Batch, Plan, Rows, Statement
from tenure.stores.sql.write import held_jobs as chain
from tenure.stores.sql.write.purge import position
from tenure.stores.sql.write.settle import LOG_COLUMNS

RUNNING = rows.CODES[State.RUNNING]
ENTRIES = {Move.CANCEL: "canceled", Move.RETRY: "retried", Move.REPRIORITISE: "reprioritised"}


def change(where: JobFilter, move: Change, after: str | None, limit: int) -> Plan[Changed]:
    """The next chunk behind `after`; `next` is None at the end."""
    names, values = conditions(where)
    values.update(after=position(after), limit=limit)
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
    links = yield from chain.ahead(ids)
    moved = yield Statement(f"move_{move.move}", {"ids": ids, "priority": move.priority})
    if move.move is Move.RETRY:
        yield from chain.start_anew([link.id for link in links])
    yield from chain.let_go(links)
    if moved:
        lines = [(row[0], row[1], 0, ENTRIES[move.move], move.actor, None) for row in moved]
        yield Statement("add_history", batch=Batch(rows.HISTORY_COLUMNS, lines))
    return done | {row[0] for row in moved}


def _note_who_asked(asked: Rows, actor: str) -> Plan[None]:
    """The history line will be the holder's; who asked stands among the job's lines."""
    lines = [(row[0], row[1], None, "warning", f"cancel asked for by {actor}") for row in asked]
    if lines:
        yield Statement("add_logs", batch=Batch(LOG_COLUMNS, lines))
