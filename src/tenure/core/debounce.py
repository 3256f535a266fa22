"""Passing names on without repeating oneself: at once, then each at most once in a while."""

from __future__ import annotations

from collections.abc import Collection


class Debounce:
    """The first time a name goes at once; again only `seconds` later, but then it does go.

    Holds neither clock nor lock: both are the caller's.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._waiting: set[str] = set()
        self._passed: dict[str, float] = {}

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
        self._waiting.difference_update(going)
        recent = {name: at for name, at in self._passed.items() if now - at < self._seconds}
        self._passed = recent | dict.fromkeys(going, now)
        return going

    def pause(self, now: float) -> float | None:
        """Seconds until a name that has gone may go again; None where no name must wait."""
        if not self._passed:
            return None
        return max(0.0, min(self._passed.values()) + self._seconds - now)

    def _may_go(self, name: str, now: float) -> bool:
        return now - self._passed.get(name, -self._seconds) >= self._seconds
