"""Jobs that waited for one that has ended: released, or cancelled because it did not succeed.

Each is decided under its own lock: of several that end at once, the last one releases it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from tenure.core.failure import Failure
from tenure.core.job import State
from tenure.core.rules.order import went_well
from tenure.core.rules.shares import Lane
from tenure.stores.sql import rows
from tenure.stores.sql.statement import Plan, Rows, Statement
from tenure.stores.sql.write.history import HistoryLine, write_history
from tenure.stores.sql.write.roll_up import roll_up_ended

Doomed = dict[int, tuple[int, State]]
"""Jobs to cancel, each with the one that did not succeed and how that one ended."""


class Dependent(NamedTuple):
    """A row of `find_dependents`: a job that waits for one that has ended."""

    id: int
    waits_for: int
    runs_anyway: int
    state: int


def release(ended: Collection[int]) -> Plan[tuple[list[Lane], Doomed]]:
    """Release those that wait for nobody any more; answer whom a failure cancels."""
    if not ended:
        return [], {}
    found = yield Statement("find_dependents", {"ids": sorted(ended)})
    waiting = [Dependent(*row) for row in found]
    if not waiting:
        return [], {}
    ids = sorted({one.id for one in waiting})
    # The lock first: two jobs that end at once must not each count on the other to release.
    yield Statement("lock_dependents", {"ids": ids})
    yield Statement("drop_awaited", {"ids": sorted({one.waits_for for one in waiting})})
    doomed = _failed(waiting)
    if doomed:
        yield Statement("purge_after", {"ids": sorted(doomed)})
    freed = yield from _free(ids)
    lanes = [Lane(*lane) for number, *lane in freed if number not in doomed]
    return lanes, doomed


def kept_back(ending: Collection[int]) -> Plan[set[int]]:
    """Those that cannot end now, because another transaction has locked a job that waits."""
    if not ending:
        return set()
    waiting = yield Statement("waiting_for", {"ids": sorted(ending)})
    if not waiting:
        return set()
    ids = sorted({number for number, _ in waiting})
    ours = {number for (number,) in (yield Statement("lock_free", {"ids": ids}))}
    return {waits_for for number, waits_for in waiting if number not in ours}


def _free(ids: list[int]) -> Plan[Rows]:
    held = {number for (number,) in (yield Statement("still_waiting", {"ids": ids}))}
    free = [number for number in ids if number not in held]
    return (yield Statement("release_dependents", {"ids": free})) if free else []


def call_off(doomed: Doomed) -> Plan[list[int]]:
    """Cancel them; the history line of each names the job that did not succeed."""
    if not doomed:
        return []
    ended = yield Statement("cancel_dependents", {"ids": sorted(doomed)})
    lines = [
        HistoryLine(number, fence, 0, "canceled", *_blame(*doomed[number]))
        for number, fence in ended
    ]
    yield from write_history(lines)
    yield from roll_up_ended(line.id for line in lines)
    return [line.id for line in lines]


def _failed(waiting: Sequence[Dependent]) -> Doomed:
    found: Doomed = {}
    for one in waiting:
        state = rows.STATES[one.state]
        if not one.runs_anyway and not went_well(state):
            found.setdefault(one.id, (one.waits_for, state))
    return found


def _blame(number: int, state: State) -> tuple[str, str]:
    message = f"job {number}, which it waited for, ended {state}"
    failure = Failure(type="DependencyFailed", message=message, code="dependency_failed")
    return f"job:{number}", failure.to_json()
