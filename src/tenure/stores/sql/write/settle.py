"""Settling: the end of runs. Every write carries the fence of the lease it was claimed under.

A plain success takes one statement for all that share a fence. Jobs that others wait for join in
`held_jobs.py`, jobs that never started in `return_unstarted.py`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from tenure.core.job import State
from tenure.core.lease import Lease
from tenure.core.rules.shares import Lane
from tenure.core.settlement import Settlement
from tenure.stores.sql import rows
from tenure.stores.sql.statement import Batch, Plan, Statement, chunks
from tenure.stores.sql.write.held_jobs import ahead, ahead_now, let_go
from tenure.stores.sql.write.history import write_endings
from tenure.stores.sql.write.return_unstarted import return_unstarted

PATIENCE_SECONDS = 0.1
CAREFUL_SECONDS = 0.02
SUCCEEDED = State.SUCCEEDED
LEASE_COLUMNS = ("id", "fence")


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
    settlements: Sequence[Settlement], patience: float | None = None, *, careful: bool = False
) -> Plan[SettleResult]:
    """End runs in one transaction, with their history, and release whoever waited for them.

    Without `patience` it waits for locks. With it, rows that another transaction has locked stay
    unchanged and are answered as `locked`. `careful` looks for locks first: a database that cannot
    skip a locked row would otherwise wait for it and give up the whole transaction.
    """
    wanted = (yield from _unlocked(settlements)) if careful else settlements
    returned = yield from return_unstarted(wanted)
    applied = set(returned)
    yield from settle_untied(wanted, patience, applied)
    freed: list[Lane] = list(returned.values())
    if left := left_of(wanted, applied):
        freed += yield from _settle_tied(left, patience, applied)
    yield from write_endings(settlements, applied)
    if patience is None:
        return SettleResult(frozenset(applied), freed)
    unsure = [item.lease for item in left_of(settlements, applied)]
    return SettleResult(frozenset(applied), freed, (yield from still_held(unsure)))


def left_of(settlements: Sequence[Settlement], applied: Collection[int]) -> list[Settlement]:
    """What is not written yet. Usually nothing, which the two lengths tell."""
    if len(applied) == len(settlements):
        return []
    return [item for item in settlements if _number(item) not in applied]


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
    values, where = _patience(patience)
    for fence, ids in plain.items():
        asked = {"ids": sorted(ids), "fence": fence, **values}
        done = yield Statement("settle_done", asked, where=where)
        applied.update([number for (number,) in done])
    if others:
        yield from settle_rows(others, applied, tied=0, patience=patience)


def _settle_tied(
    settlements: Sequence[Settlement], patience: float | None, applied: set[int]
) -> Plan[list[Lane]]:
    """Jobs whose end others wait for; answers the lanes that got a job. Stale ones are refused."""
    ids = [_number(item) for item in settlements]
    links = yield from (ahead(ids) if patience is None else ahead_now(ids))
    if patience is not None:
        free = {link.id for link in links}
        settlements = [item for item in settlements if _number(item) in free]
    done: set[int] = set()
    yield from settle_rows(settlements, done, tied=1, patience=patience)
    applied |= done
    return (yield from let_go([link for link in links if link.id in done], done))


def settle_rows(
    settlements: Sequence[Settlement], applied: set[int], *, tied: int, patience: float | None
) -> Plan[None]:
    """Any endings, one row each. `tied` 0 writes only rows that nobody waits for."""
    values, where = _patience(patience)
    ordered = sorted(settlements, key=_number)  # in id order: no deadlocks
    for part in chunks(ordered, key=lambda item: len(item.result or "")):
        batch = Batch(rows.SETTLE_COLUMNS, [rows.settlement(item) for item in part])
        done = yield Statement("settle_jobs", {"tied": tied, **values}, batch, where)
        applied.update([number for (number,) in done])


def _patience(seconds: float | None) -> tuple[dict[str, str], tuple[str, ...]]:
    """Value and condition that keep a statement from waiting for locks."""
    if seconds is None:
        return {}, ()
    return {"patience": f"{max(1, round(seconds * 1000))}ms"}, ("now",)


def _unlocked(settlements: Sequence[Settlement]) -> Plan[list[Settlement]]:
    asked = {"ids": sorted(map(_number, settlements))}
    free = {number for (number,) in (yield Statement("lock_free", asked))}
    return [item for item in settlements if _number(item) in free]


def still_held(leases: Sequence[Lease]) -> Plan[frozenset[int]]:
    """Rows that were not written although their lease still holds: another transaction has locked
    them. The rest is stale.
    """
    if not leases:
        return frozenset()
    asked = sorted((int(lease.job_id), lease.fence) for lease in leases)
    held = yield Statement("held_leases", batch=Batch(LEASE_COLUMNS, asked))
    return frozenset([number for (number,) in held])


def _number(item: Settlement) -> int:
    return int(item.lease.job_id)
