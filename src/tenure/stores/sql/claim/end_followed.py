"""Followed jobs that end without a run: buried after a crash, cancelled by their recovery, expired.

A sweep leaves them alone. They end in transactions of their own, so that a feature that fails keeps
nobody from claiming.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from tenure.core.job import State
from tenure.core.rules.crash_recovery import Fate
from tenure.core.rules.shares import Lane
from tenure.stores.sql.claim.lost_leases import Ended, LostLease, burial
from tenure.stores.sql.endings.endings import Endings
from tenure.stores.sql.rows import RUNNING
from tenure.stores.sql.statement import WAITED, Plan, Statement
from tenure.stores.sql.write import held_jobs
from tenure.stores.sql.write.settle import PATIENCE_SECONDS, settle


@dataclass(slots=True)
class EndedFollowed:
    """Jobs that ended, and the lanes that got a job by it."""

    ended: Ended = field(default_factory=list)
    freed: list[Lane] = field(default_factory=list)


def end_followed(ids: Collection[int], endings: Endings) -> Plan[EndedFollowed]:
    """End those of these jobs that are still due; what is locked waits for the next look."""
    done = EndedFollowed()
    found = yield Statement("lock_followed_due", {"ids": sorted(ids), WAITED: 0})
    lost = [LostLease.of(tuple(row)) for *row, state in found if state == RUNNING]
    expired = [number for number, *_, state in found if state != RUNNING]
    yield from endings.mark(ids)
    yield from _bury(lost, done, endings)
    yield from _expire(expired, done, endings)
    return done


def _bury(lost: list[LostLease], done: EndedFollowed, endings: Endings) -> Plan[None]:
    over = [burial(one) for one in lost if one.recovery.fate is not Fate.AGAIN]
    if not over:
        return
    result = yield from settle(over, endings, PATIENCE_SECONDS)
    done.freed += result.freed
    for one in over:
        if one.lease.job_id in result.ids:
            done.ended.append((one.lease.job_id, one.state, one.reason or ""))


def _expire(ids: list[int], done: EndedFollowed, endings: Endings) -> Plan[None]:
    links = yield from held_jobs.ahead_now(ids)
    if not links:
        return
    yield Statement("expire_tied", {"ids": [link.id for link in links]})
    done.freed += yield from held_jobs.let_go(links, endings)
    yield from endings.ended(links, State.QUEUED)
    done.ended += [(str(link.id), State.CANCELED, "expired") for link in links]
