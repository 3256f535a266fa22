"""Jobs that waited for one that has ended: set free, or called off because it did not succeed.

Each is decided on under its own lock: of several that end at once, the last one sets it free.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from tenure.core.failure import Failure
from tenure.core.job import State
from tenure.core.rules.order import went_well
from tenure.core.rules.shares import Lane
from tenure.stores.sql import rows
from tenure.stores.sql.statement import Batch, Plan, Row, Statement

Doomed = dict[int, tuple[int, State]]
"""Jobs to be called off, each with the one that did not succeed and how that ended."""


@dataclass(frozen=True, slots=True)
class Dependent:
    """A job that waits for one that has ended."""

    id: int
    waits_for: int
    runs_anyway: bool
    state: State

    @classmethod
    def of(cls, row: Row) -> Dependent:
        """From a row of `find_dependents`."""
        return cls(row[0], row[1], bool(row[2]), rows.STATES[row[3]])


def release(ended: Collection[int]) -> Plan[tuple[list[Lane], Doomed]]:
    """Who waits for nobody any more is free; whom a failure concerns is to be called off."""
    if not ended:
        return [], {}
    found = yield Statement("find_dependents", {"ids": sorted(ended)})
    waiting = [Dependent.of(row) for row in found]
    if not waiting:
        return [], {}
    ids = sorted({one.id for one in waiting})
    yield Statement("lock_dependents", {"ids": ids})
    yield Statement("drop_awaited", {"ids": sorted({one.waits_for for one in waiting})})
    doomed = _failed(waiting)
    if doomed:
        yield Statement("purge_after", {"ids": sorted(doomed)})
    freed = yield from _free(ids)
    return [Lane(row[1], row[2], row[3]) for row in freed if row[0] not in doomed], doomed


def kept_back(ending: Collection[int]) -> Plan[set[int]]:
    """Those of them that cannot end now: somebody else has locked a job that waits for them."""
    if not ending:
        return set()
    waiting = yield Statement("waiting_for", {"ids": sorted(ending)})
    if not waiting:
        return set()
    ids = sorted({row[0] for row in waiting})
    ours = {row[0] for row in (yield Statement("lock_free", {"ids": ids}))}
    return {row[1] for row in waiting if row[0] not in ours}


def _free(ids: list[int]) -> Plan[list[Row]]:
    held = {row[0] for row in (yield Statement("still_waiting", {"ids": ids}))}
    free = [number for number in ids if number not in held]
    return (yield Statement("release_dependents", {"ids": free})) if free else []


def call_off(doomed: Doomed) -> Plan[list[int]]:
    """They end canceled, each with a line that names the job that did not succeed."""
    if not doomed:
        return []
    ended = yield Statement("cancel_dependents", {"ids": sorted(doomed)})
    lines = [(row[0], row[1], 0, "canceled", *_blame(*doomed[row[0]])) for row in ended]
    if lines:
        yield Statement("add_history", batch=Batch(rows.HISTORY_COLUMNS, lines))
    return [row[0] for row in ended]


def _failed(waiting: Sequence[Dependent]) -> Doomed:
    found: Doomed = {}
    for one in waiting:
        if not one.runs_anyway and not went_well(one.state):
            found.setdefault(one.id, (one.waits_for, one.state))
    return found


def _blame(number: int, state: State) -> tuple[str, str]:
    message = f"job {number}, which it waited for, ended {state}"
    failure = Failure(type="DependencyFailed", message=message, code="dependency_failed")
    return f"job:{number}", failure.to_json()
