"""Passing names on without repeating oneself: at once, then each at most once in a while."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

CROWD = 8
PATIENCE = 4


class Debounce:
    """The first time a name goes at once; again only `seconds` later, but then it does go.

    A name that a crowd asked for meanwhile rests four times as long: whoever hears it is at work.
    Holds neither clock nor lock: both are the caller's.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._waiting: Counter[str] = Counter()
        self._resting: dict[str, float] = {}

    @property
    def waiting(self) -> bool:
        """Whether there is anything left to pass on."""
        return bool(self._waiting)

    def add(self, names: Collection[str], now: float) -> bool:
        """Whether one of them may go at once."""
        self._waiting.update(names)
        return any(self._may_go(name, now) for name in names)

    def take(self, now: float, *, all_of_them: bool = False) -> list[str]:
        """What may go now."""
        going = sorted(name for name in self._waiting if all_of_them or self._may_go(name, now))
        self._resting = {name: until for name, until in self._resting.items() if until > now}
        for name in going:
            crowded = self._waiting.pop(name) >= CROWD
            self._resting[name] = now + self._seconds * (PATIENCE if crowded else 1)
        return going

    def pause(self, now: float) -> float | None:
        """Seconds until a name that has gone may go again; None where no name must wait."""
        if not self._resting:
            return None
        return max(0.0, min(self._resting.values()) - now)

    def _may_go(self, name: str, now: float) -> bool:
        return self._resting.get(name, now) <= now
