"""Settlements that could not be written: each is tried again after a pause that grows.

An open transaction has locked the row, or the database has trouble with it. Nothing else waits for
them, and none is given up: if the lease is lost meanwhile, the store refuses the settlement.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tenure.core.lease import Lease
from tenure.core.settlement import Settlement

FIRST_PAUSE = 0.005
# Each may cost a wait for a lock: a short batch keeps the others' turns from being late.
AT_ONCE = 100


@dataclass(slots=True)
class Entry:
    """A settlement, when it is tried next, and the last pause."""

    item: Settlement
    due: float
    pause: float


class UnwrittenSettlements:
    """What was set aside, by lease. Moments are those of the event loop's clock."""

    def __init__(self) -> None:
        self._entries: dict[Lease, Entry] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def put(self, items: Iterable[Settlement], now: float, longest: float) -> None:
        """Try these again, each a little later than the last time."""
        for item in items:
            before = self._entries.get(item.lease)
            pause = FIRST_PAUSE if before is None else min(before.pause * 2, longest)
            self._entries[item.lease] = Entry(item, now + pause, pause)

    def drop(self, items: Iterable[Settlement]) -> None:
        """These are written, or never will be."""
        for item in items:
            self._entries.pop(item.lease, None)

    def due(self, now: float) -> list[Settlement]:
        """Those to try now, the longest overdue first, not too many at once."""
        found = sorted((e for e in self._entries.values() if e.due <= now), key=lambda e: e.due)
        return [entry.item for entry in found[:AT_ONCE]]

    def next_in(self, now: float) -> float:
        """Seconds until something is due."""
        return max(0.0, min(entry.due for entry in self._entries.values()) - now)
