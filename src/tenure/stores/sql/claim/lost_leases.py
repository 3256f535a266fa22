"""Leases that ran out: back to their queues in bulk, whatever is free; or buried, or cancelled.

Released jobs are as old as they were, so they compete by age like any other.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tenure.core.job import State
from tenure.core.lease import Lease
from tenure.core.rules.crash_recovery import Fate, Recovery, recover
from tenure.core.rules.shares import Lane
from tenure.core.settlement import WORKER_CRASHED, Settlement, crash_failure
from tenure.core.timing.clock import seconds_to_micros
from tenure.stores.sql import rows
from tenure.stores.sql.statement import WAITED, Batch, Plan, Row, Statement
from tenure.stores.sql.write.settle import PATIENCE_SECONDS, settle_now

AT_ONCE = 1_000
RELEASE_COLUMNS = ("id", "refund", "counted", "crash", "standing")
Ended = list[tuple[str, State, str]]


@dataclass(frozen=True, slots=True)
class Lost:
    """A job whose holder went silent, and what becomes of it."""

    id: int
    fence: int
    holder: str
    attempt: int
    lane: Lane
    recovery: Recovery

    @classmethod
    def of(cls, row: Row) -> Lost:
        """From a row of `overdue_leases`."""
        number, fence, holder, attempt, most, cancel, refunds, standing, *lane = row
        recovery = recover(
            attempt=attempt,
            max_attempts=most,
            refunds=refunds,
            standing=standing,
            cancel_requested=bool(cancel),
        )
        return cls(number, fence, holder, attempt, Lane(*lane), recovery)

    @property
    def message(self) -> str:
        """For the history: what is known, and whether it counts."""
        if not self.recovery.began:
            return f"{self.holder} went silent before it began this job; the attempt is not counted"
        counts = "counted" if self.recovery.charged else "not counted"
        return f"{self.holder} stopped renewing its lease during attempt {self.attempt}, {counts}"


@dataclass(slots=True)
class Recovered:
    """What a look for lost leases did; `found` says whether there was anything."""

    ended: Ended = field(default_factory=list)
    released: list[Lost] = field(default_factory=list)

    @property
    def found(self) -> bool:
        """Whether there may be more."""
        return bool(self.ended or self.released)


def recover_lost(back: float, *, calm: bool = False) -> Plan[Recovered]:
    """Those that ran out in the last `back` seconds. `calm`: those that others wait for stay."""
    values = {"back": seconds_to_micros(back), "limit": AT_ONCE, WAITED: 0}
    found = [Lost.of(row) for row in (yield Statement("overdue_leases", values))]
    done = Recovered(released=[lost for lost in found if lost.recovery.fate is Fate.AGAIN])
    if over := [_burial(lost) for lost in found if lost.recovery.fate is not Fate.AGAIN]:
        yield from _bury(over, done.ended, calm=calm)
    if done.released:
        yield from _release(done.released)
    return done


def _bury(over: list[Settlement], ended: Ended, *, calm: bool) -> Plan[None]:
    """The end of what has nothing left to try; what a lock is in the way of waits for a sweep."""
    if calm:  # those that nobody waits for, in one step
        tied = yield Statement("chained_jobs", {"ids": [int(end.lease.job_id) for end in over]})
        left_alone = {str(row[0]) for row in tied}
        over = [end for end in over if end.lease.job_id not in left_alone]
    buried = (yield from settle_now(over, PATIENCE_SECONDS)).ids if over else ()
    ended += [(e.lease.job_id, e.state, e.reason or "") for e in over if e.lease.job_id in buried]


def _release(lost: list[Lost]) -> Plan[None]:
    told = [
        (one.id, one.fence, 0, "crashed", None, crash_failure(one.message).to_json())
        for one in lost
    ]
    yield Statement("add_history", batch=Batch(rows.HISTORY_COLUMNS, told))
    lines = sorted(_line(one) for one in lost)
    yield Statement("release_lost", batch=Batch(RELEASE_COLUMNS, lines))


def _line(one: Lost) -> Row:
    """What had begun and is spared counts as a refund, so that this ends some day."""
    spared = not one.recovery.charged
    began = one.recovery.began
    return one.id, int(spared), int(spared and began), int(began), int(one.recovery.standing)


def _burial(lost: Lost) -> Settlement:
    canceled = lost.recovery.fate is Fate.CANCEL
    return Settlement(
        lease=Lease(str(lost.id), lost.fence, lost.holder),
        state=State.CANCELED if canceled else State.DEAD,
        entry="crashed",
        reason="canceled" if canceled else WORKER_CRASHED,
        failure=crash_failure(lost.message),
        crash=lost.recovery.charged,
    )
