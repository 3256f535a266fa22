"""Operators' moves (cancel, retry, reprioritise), one bounded chunk at a time."""

from __future__ import annotations

from typing import NamedTuple

from tenure.core.filter import JobFilter
from tenure.core.rules.order import Chained
from tenure.stores.contract import Change, Changed, Move
from tenure.stores.sql import rows
from tenure.stores.sql.endings.endings import Endings
from tenure.stores.sql.ids import chunk_position
from tenure.stores.sql.read.conditions import conditions
from tenure.stores.sql.statement import Batch, Plan, Rows, Statement
from tenure.stores.sql.write import held_jobs
from tenure.stores.sql.write.history import HistoryLine, write_history
from tenure.stores.sql.write.leases import LOG_COLUMNS
from tenure.stores.sql.write.roll_up import roll_up_ended

ENTRIES = {Move.CANCEL: "canceled", Move.RETRY: "retried", Move.REPRIORITISE: "reprioritised"}


class LockedJob(NamedTuple):
    """A row of `lock_jobs`."""

    id: int
    state: int


def change(
    where: JobFilter, move: Change, after: str | None, limit: int, endings: Endings
) -> Plan[Changed]:
    """The next chunk behind `after`; `next` is None at the end."""
    names, values = conditions(where)
    values.update(after=chunk_position(after), limit=limit)
    picked = [number for (number,) in (yield Statement("pick_jobs", values, where=names))]
    if not picked:
        return Changed()
    # Picked without locks and in id order; the lock looks at the conditions once more.
    values.update(picked=picked)
    locked = [LockedJob(*row) for row in (yield Statement("lock_jobs", values, where=names))]
    done = yield from _move(locked, move, endings)
    return Changed(
        matched=len(locked),
        changed=len(done),
        refused=[str(one.id) for one in locked if one.id not in done],
        next=str(picked[-1]) if len(picked) == limit else None,
    )


def _move(locked: list[LockedJob], move: Change, endings: Endings) -> Plan[set[int]]:
    """A cancel asks a running job to stop, and ends any other."""
    cancels = move.move is Move.CANCEL
    asking = [one.id for one in locked if cancels and one.state == rows.RUNNING]
    done: set[int] = set()
    if asking:
        asked = yield Statement("move_request_cancel", {"ids": asking})
        done = {number for number, _ in asked}
        yield from _note_who_asked(asked, move.actor)
    ids = [one.id for one in locked if one.id not in done]
    if not ids:
        return done
    ends = move.move is not Move.REPRIORITISE
    if ends:
        yield from endings.mark(ids)
    links = yield from held_jobs.ahead(ids)
    if ends:
        yield from endings.check(links)
    moved = yield Statement(f"move_{move.move}", {"ids": ids, "priority": move.priority})
    if move.move is Move.RETRY:
        yield from held_jobs.start_anew([link.id for link in links])
    yield from held_jobs.let_go(links, endings)
    entry = ENTRIES[move.move]
    lines = [HistoryLine(number, fence, 0, entry, move.actor) for number, fence in moved]
    yield from write_history(lines)
    changed = {line.id for line in lines}
    if cancels:
        yield from roll_up_ended(changed)
    if ends:
        former = {one.id: rows.STATES[one.state] for one in locked if one.id in changed}
        followed = [link.id for link in links if link.chained & Chained.FOLLOWED]
        yield from endings.moved({id: former[id] for id in followed if id in former})
    return done | changed


def _note_who_asked(asked: Rows, actor: str) -> Plan[None]:
    """Its holder will write the history line of a running job, so a log line names the operator."""
    message = f"cancel requested by {actor}"
    lines = [(number, fence, None, "warning", message) for number, fence in asked]
    if lines:
        yield Statement("add_logs", batch=Batch(LOG_COLUMNS, lines))
