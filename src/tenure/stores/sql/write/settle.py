"""Settling: the end of runs. Every write carries the fence of the lease it was claimed under.

A plain success takes one statement for all that share a fence. Other endings join in
`settle_rows.py`, jobs that others wait for in `settle_tied.py`, jobs that never started in
`return_unstarted.py`, and rows that another transaction has locked in `locked_rows.py`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from tenure.core.job import State
from tenure.core.rules.shares import Lane
from tenure.core.settlement import Settlement
from tenure.stores.sql.endings.endings import Endings
from tenure.stores.sql.statement import Plan, Statement
from tenure.stores.sql.write.held_jobs import Link
from tenure.stores.sql.write.history import write_endings
from tenure.stores.sql.write.locked_rows import still_held, unlocked
from tenure.stores.sql.write.return_unstarted import return_unstarted
from tenure.stores.sql.write.settle_rows import number_of, settle_rows, without_waiting
from tenure.stores.sql.write.settle_tied import settle_tied

# How long a batch waits for a lock before it goes on without the locked row; less once it is
# known that a lock is in the way.
PATIENCE_SECONDS = 0.1
CAREFUL_SECONDS = 0.02
SUCCEEDED = State.SUCCEEDED


@dataclass(frozen=True)
class SettleResult:
    """Row numbers that were written, lanes that got a job by it, rows that others have locked."""

    applied: frozenset[int] = frozenset()
    freed: Sequence[Lane] = ()
    locked: frozenset[int] = frozenset()

    @cached_property
    def ids(self) -> frozenset[str]:
        """The public ids of those that were written."""
        return frozenset(map(str, self.applied))


def settle(
    settlements: Sequence[Settlement],
    endings: Endings,
    patience: float | None = None,
    *,
    careful: bool = False,
) -> Plan[SettleResult]:
    """End runs in one transaction, with their history, and release whoever waited for them.

    Without `patience` it waits for locks. With it, rows that another transaction has locked stay
    unchanged and are answered as `locked`. `careful` looks for locks first: a database that cannot
    skip a locked row would otherwise wait for it and give up the whole transaction.
    """
    wanted = (yield from unlocked(settlements)) if careful else settlements
    returned = yield from return_unstarted(wanted)
    applied = set(returned)
    yield from settle_untied(wanted, patience, applied)
    freed: list[Lane] = list(returned.values())
    over: list[Link] = []
    if left := left_of(wanted, applied):
        lanes, over = yield from settle_tied(left, patience, applied, endings)
        freed += lanes
    yield from write_endings(settlements, applied)
    if over:  # last, because many endings may want the same row of a feature
        yield from endings.ended(over, State.RUNNING)
    if patience is None:
        return SettleResult(frozenset(applied), freed)
    unsure = [item.lease for item in left_of(settlements, applied)]
    return SettleResult(frozenset(applied), freed, (yield from still_held(unsure)))


def left_of(settlements: Sequence[Settlement], applied: Collection[int]) -> list[Settlement]:
    """What is not written yet. Usually nothing, which the two lengths tell."""
    if len(applied) == len(settlements):
        return []
    return [item for item in settlements if number_of(item) not in applied]


def settle_untied(
    settlements: Sequence[Settlement], patience: float | None, applied: set[int]
) -> Plan[None]:
    """Jobs that nobody waits for. Adds to `applied` after each statement, so that it is right
    even if a later one fails.
    """
    plain: dict[int, list[int]] = defaultdict(list)
    others: list[Settlement] = []
    for item in settlements:
        job_id, fence, _ = item.lease
        number = int(job_id)
        if number in applied:
            continue
        # Most runs succeed without a result: then the ids of one fence say it all.
        if item.state is SUCCEEDED and item.result is None and item.entry is None:
            plain[fence].append(number)
        else:
            others.append(item)
    values, where = without_waiting(patience)
    for fence, ids in plain.items():
        asked = {"ids": sorted(ids), "fence": fence, **values}
        done = yield Statement("settle_done", asked, where=where)
        applied.update([number for (number,) in done])
    if others:
        yield from settle_rows(others, applied, tied=0, patience=patience)
