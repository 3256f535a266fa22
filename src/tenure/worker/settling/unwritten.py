"""Endings that could not be written: each is tried again by itself, after a pause that grows.

Somebody's open transaction has locked the row, or the database has trouble with it. Nothing else
waits for them, and none is given up: a lease that is lost meanwhile makes the store refuse it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tenure.core.lease import Lease
from tenure.core.settlement import Settlement

FIRST_PAUSE = 0.005
AT_ONCE = 100


@dataclass(slots=True)
class Entry:
    """When it is tried next, and how long after that."""

    item: Settlement
    due: float
    pause: float


class Aside:
    """What was set aside, by lease. Moments are the event loop's."""

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
        """These are over."""
        for item in items:
            self._entries.pop(item.lease, None)

    def due(self, now: float) -> list[Settlement]:
        """Those whose time has come, the longest overdue first, not too many at once."""
        found = sorted((e for e in self._entries.values() if e.due <= now), key=lambda e: e.due)
        return [entry.item for entry in found[:AT_ONCE]]

    def next_in(self, now: float) -> float:
        """Seconds until something is due."""
        return max(0.0, min(entry.due for entry in self._entries.values()) - now)
