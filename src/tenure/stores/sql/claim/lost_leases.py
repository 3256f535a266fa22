"""Leases that ran out: their jobs return to the queues, are buried, or are cancelled.

Returned jobs keep their `run_at`, so they compete by age like any other. Which of the three happens
is decided by `core/rules/crash_recovery.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tenure.core.job import State
from tenure.core.lease import Lease
from tenure.core.rules.crash_recovery import Fate, Recovery, recover
from tenure.core.rules.shares import Lane
from tenure.core.settlement import WORKER_CRASHED, Settlement, crash_failure
from tenure.core.timing.clock import seconds_to_micros
from tenure.stores.sql.endings.endings import Endings
from tenure.stores.sql.statement import WAITED, Batch, Plan, Row, Statement
from tenure.stores.sql.write.history import HistoryLine, write_history
from tenure.stores.sql.write.roll_up import roll_up_ended
from tenure.stores.sql.write.settle import PATIENCE_SECONDS, settle

# A worker that died held far fewer; a fleet that died is recovered in several sweeps.
AT_ONCE = 1_000
RELEASE_COLUMNS = ("id", "refund", "counted", "crash", "standing")
Ended = list[tuple[str, State, str]]


@dataclass(frozen=True, slots=True)
class LostLease:
    """A job whose holder stopped renewing, and what becomes of it."""

    id: int
    fence: int
    holder: str
    attempt: int
    kind: str
    chained: int
    lane: Lane
    recovery: Recovery

    @classmethod
    def of(cls, row: Row) -> LostLease:
        """From a row of `overdue_leases`."""
        number, fence, holder, attempt, most, cancel, refunds, standing, kind, chained, *lane = row
        recovery = recover(
            attempt=attempt,
            max_attempts=most,
            refunds=refunds,
            standing=standing,
            cancel_requested=bool(cancel),
        )
        return cls(number, fence, holder, attempt, kind, chained, Lane(*lane), recovery)

    @property
    def message(self) -> str:
        """For the history: what is known, and whether the attempt counts."""
        if not self.recovery.began:
            return f"{self.holder} went silent before it began this job; the attempt is not counted"
        counts = "counted" if self.recovery.charged else "not counted"
        return f"{self.holder} stopped renewing its lease during attempt {self.attempt}, {counts}"


@dataclass(slots=True)
class Recovered:
    """What a look for lost leases did."""

    ended: Ended = field(default_factory=list)
    released: list[LostLease] = field(default_factory=list)

    @property
    def found(self) -> bool:
        """Whether there was anything, so that there may be more."""
        return bool(self.ended or self.released)


def recover_lost(back: float, endings: Endings, *, calm: bool = False) -> Plan[Recovered]:
    """Leases that ran out in the last `back` seconds. `calm` leaves jobs alone that others wait
    for. Jobs that a feature follows are not buried here: `end_followed.py` does it.
    """
    values = {"back": seconds_to_micros(back), "limit": AT_ONCE, WAITED: 0}
    found = [LostLease.of(row) for row in (yield Statement("overdue_leases", values))]
    done = Recovered(released=[lost for lost in found if lost.recovery.fate is Fate.AGAIN])
    over = [lost for lost in found if lost.recovery.fate is not Fate.AGAIN]
    if over:
        followed = [one.id for one in over if endings.follow(one)]
        yield from endings.mark(followed)
        plain = [burial(one) for one in over if one.id not in followed]
        yield from _bury(plain, done.ended, endings, calm=calm)
    if done.released:
        yield from _release(done.released)
    return done


def _bury(over: list[Settlement], ended: Ended, endings: Endings, *, calm: bool) -> Plan[None]:
    """End jobs that have no attempt left. What a lock is in the way of waits for the next sweep."""
    if calm:  # only those that nobody waits for: they need no other lock
        tied = yield Statement("chained_jobs", {"ids": [int(end.lease.job_id) for end in over]})
        left_alone = {str(number) for number, *_ in tied}
        over = [end for end in over if end.lease.job_id not in left_alone]
    patience = PATIENCE_SECONDS
    buried = (yield from settle(over, endings, patience)).ids if over else frozenset[str]()
    yield from roll_up_ended(map(int, buried))
    ended += [(e.lease.job_id, e.state, e.reason or "") for e in over if e.lease.job_id in buried]


def _release(lost: list[LostLease]) -> Plan[None]:
    yield from write_history(
        [
            HistoryLine.of_failure(one.id, one.fence, "crashed", crash_failure(one.message))
            for one in lost
        ]
    )
    lines = sorted(_release_row(one) for one in lost)
    yield Statement("release_lost", batch=Batch(RELEASE_COLUMNS, lines))


def _release_row(one: LostLease) -> Row:
    """The values of RELEASE_COLUMNS. A job that had begun and is spared counts a refund, and
    refunds are bounded: so a job cannot crash worker after worker for ever.
    """
    spared = not one.recovery.charged
    began = one.recovery.began
    return one.id, int(spared), int(spared and began), int(began), int(one.recovery.standing)


def burial(lost: LostLease) -> Settlement:
    """The end of a job that has no attempt left, or that was to be cancelled."""
    canceled = lost.recovery.fate is Fate.CANCEL
    return Settlement(
        lease=Lease(str(lost.id), lost.fence, lost.holder),
        state=State.CANCELED if canceled else State.DEAD,
        entry="crashed",
        reason="canceled" if canceled else WORKER_CRASHED,
        failure=crash_failure(lost.message),
        crash=lost.recovery.charged,
    )
