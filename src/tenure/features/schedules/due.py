"""Which slots to fire now, and which to leave out: a pure rule."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from tenure.features.schedules.timing import NEVER, Timing

GRACE = timedelta(seconds=60)
LONGEST_WALK = 10_000


class CatchUp(StrEnum):
    """What happens to slots that were missed.

    none: they are left out; a slot still fires up to a minute late.
    last: the latest of them fires, however late.
    all: each of them fires, oldest first, but only the latest `limit` of them.
    """

    NONE = "none"
    LAST = "last"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Due:
    """What to fire, oldest first; how many slots before those are left out; what comes next."""

    slots: tuple[datetime, ...]
    dropped: int
    next_at: datetime

    def at_most(self, count: int) -> Due:
        """At most `count` slots, oldest first; the first of the rest comes next."""
        if count >= len(self.slots):
            return self
        return Due(self.slots[:count], self.dropped, self.slots[count])


def due(timing: Timing, next_at: datetime, now: datetime, catch_up: str, limit: int) -> Due:
    """What follows from `next_at` being over. One call walks over a bounded number of slots."""
    passed, after = _passed(timing, next_at, now)
    keep = limit if catch_up == CatchUp.ALL else 1
    dropped, kept = passed[:-keep], passed[-keep:]
    if after <= now:  # more than one walk behind: those kept are looked at again
        return Due((), len(dropped), kept[0])
    if catch_up == CatchUp.NONE and now - kept[-1] > GRACE:
        return Due((), len(passed), after)
    return Due(tuple(kept), len(dropped), after)


def _passed(timing: Timing, next_at: datetime, now: datetime) -> tuple[list[datetime], datetime]:
    """Slots from `next_at` up to now, and the one after them."""
    passed = [next_at]
    for slot in timing.slots(next_at):
        if slot > now or len(passed) == LONGEST_WALK:
            return passed, slot
        passed.append(slot)
    return passed, NEVER
