"""At which gates a worker knows jobs to wait, and when it is worth looking there again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from tenure.core.rules.limits import BEHIND_NAME, SEPARATOR, Limit, Limits, behind, kind_of

GATES_AT_ONCE = 512
KEYS_AT_ONCE = 32
CLOSED_SECONDS = 0.05
MOST_KNOWN = 50_000
NEVER = float("inf")
Pair = tuple[str, str]
Place = tuple[int, str]


class Locked(Protocol):
    """What is to be known of a gate after it was looked at."""

    limit: Limit

    @property
    def left(self) -> float:
        """Its tokens."""
        ...

    @property
    def open(self) -> int:
        """How many may pass now."""
        ...


class Parking:
    """One worker's knowledge; wrong or missing it costs a look or a second, never a job.

    A gate that is closed is looked at again when a job that passed it has ended here, when its
    tokens are due, or when a sweep comes by; a kind's own also after a moment, whoever made room.
    """

    def __init__(self) -> None:
        self._look_at: dict[str, float] = {}
        self._timed: set[str] = set()
        self._running: dict[str, str] = {}
        self._after: dict[str, str] = {}
        self.stopped: dict[Pair, Place] = {}

    def __bool__(self) -> bool:
        return bool(self._look_at)

    def has(self, name: str) -> bool:
        """Whether somebody is known to wait there."""
        return name in self._look_at

    def add(self, name: str) -> None:
        """Somebody waits there: worth a look."""
        self._look_at[name] = 0.0

    def worth_a_look(self, now: float, limits: Limits) -> set[str]:
        """Gates to look at in this claim; who waits where no limit is left is found by a sweep."""
        due = [
            name
            for name, at in self._look_at.copy().items()  # other threads tell of ends meanwhile
            if at <= now and (limits.at(name) or limits.at(kind_of(name)))
        ]
        keys = [name for name in due if SEPARATOR in name][:KEYS_AT_ONCE]
        return {name for name in due if SEPARATOR not in name} | set(keys)

    def looked(self, names: Iterable[str], gates: Mapping[str, Locked], now: float) -> None:
        """When to look again where somebody still waits: when tokens are there, else when told."""
        for name in names:
            if self._look_at.pop(name, None) is not None:  # behind all others from here on
                self._look_at[name] = self._next_look(name, gates, now)

    def _next_look(self, name: str, gates: Mapping[str, Locked], now: float) -> float:
        its = [gates[one] for one in {name, kind_of(name)} if one in gates]
        waits = [one.limit.wait_for(one.left) for one in its if one.limit.rate is not None]
        if waits:
            self._timed.add(name)
            return now + max(waits)
        self._timed.discard(name)
        if all(one.open for one in its):
            return 0.0
        return now + CLOSED_SECONDS if kind_of(name) in gates else NEVER

    def look_in(self, now: float) -> float | None:
        """Seconds until there are tokens; None where nothing but an end gives room."""
        if not self._timed:
            return None
        looks = self._look_at.copy()
        moments = [looks[name] for name in self._timed.copy() if name in looks]
        return max(0.001, min(moments) - now) if moments else None

    def emptied(self, names: Iterable[str]) -> None:
        """Nobody waits there any more."""
        for name in names:
            self._look_at.pop(name, None)
            self._timed.discard(name)

    def began(self, names: Mapping[str, str]) -> None:
        """Jobs, each by the gate that it passed: their end is worth a look there."""
        if len(self._running) > MOST_KNOWN:  # whose leases were lost never end here
            self._running.clear()
        self._running.update(names)

    def ended(self, job_ids: Iterable[str]) -> None:
        """Where these ran there may be room."""
        for job_id in job_ids if self._running else ():
            name = self._running.pop(job_id, None)
            if name is not None and name in self._look_at:
                self._look_at[name] = 0.0

    def spans(self, kinds: Iterable[str]) -> list[tuple[str, str]]:
        """Where a sweep looks for who waits: all gates of a kind, or from where it stopped."""
        return [(self._after.pop(kind, kind), behind(kind)) for kind in sorted(kinds)]

    def found(self, names: list[str]) -> None:
        """Where there are more gates than a look shows, the next sweep goes on behind the last."""
        last: dict[str, str] = {}
        counts: dict[str, int] = {}
        for name in names:
            kind = kind_of(name)
            last[kind], counts[kind] = name, counts.get(kind, 0) + 1
        for kind, count in counts.items():
            if count >= GATES_AT_ONCE:
                self._after[kind] = last[kind] + BEHIND_NAME

    def resume(self, pair: Pair, place: Place) -> Place:
        """Where to look for lanes behind the first ones; a place is good for one time."""
        return max(place, self.stopped.pop(pair, place))
