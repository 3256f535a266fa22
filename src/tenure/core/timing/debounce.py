"""Debounces names: each goes at once, then at most once in an interval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

# A name asked for this often in one interval rests for this many intervals.
CROWD = 8
PATIENCE = 8


class Debounce:
    """The first time a name goes at once; again only `seconds` later, but then it does go.

    A name that a crowd asked for meanwhile rests eight times as long: whoever hears it is at work.
    Holds neither clock nor lock: both are the caller's.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._waiting: Counter[str] = Counter()
        self._resting: dict[str, tuple[float, float]] = {}

    @property
    def waiting(self) -> bool:
        """Whether names are waiting."""
        return bool(self._waiting)

    def add(self, names: Collection[str], now: float) -> bool:
        """Add names; whether one of them may go at once."""
        self._waiting.update(names)
        return any(self._may_go(name, now) for name in names)

    def take(self, now: float, *, all_of_them: bool = False) -> list[str]:
        """Take the names that may go now."""
        going = sorted(name for name in self._waiting if all_of_them or self._may_go(name, now))
        rests = {name: self._rest(name) for name in going}
        self._resting = {name: one for name, one in self._resting.items() if one[0] > now}
        self._resting |= {name: (now + rest, rest) for name, rest in rests.items()}
        return going

    def pause(self, now: float) -> float | None:
        """Seconds until a name that was sent may go again; None if none has to wait."""
        if not self._resting:
            return None
        return max(0.0, min(until for until, _ in self._resting.values()) - now)

    def _may_go(self, name: str, now: float) -> bool:
        return name not in self._resting or self._resting[name][0] <= now

    def _rest(self, name: str) -> float:
        """How long the name rests now: longer if many asked for it meanwhile."""
        _, last = self._resting.get(name, (0.0, self._seconds))
        crowded = self._waiting.pop(name) >= CROWD * last / self._seconds
        return self._seconds * PATIENCE if crowded else self._seconds
