"""At which gates a worker knows jobs to wait, and when it is worth looking there again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from tenure.core.limits import BEHIND_NAME, SEPARATOR, Limit, Limits, behind, kind_of

GATES_AT_ONCE = 512
KEYS_AT_ONCE = 32
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


class Parking:
    """One worker's knowledge; wrong or missing it costs a look or a second, never a job.

    A kind's own gate is looked at in every claim, a key's when a job of that key has ended here,
    when its tokens are due, or when a sweep comes by.
    """

    def __init__(self) -> None:
        self._look_at: dict[str, float] = {}
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
            for name, at in self._look_at.items()
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
            return now + max(waits)
        return 0.0 if kind_of(name) in gates else NEVER

    def look_in(self, now: float) -> float | None:
        """Seconds until the next look that is known; None where nothing but an end gives room."""
        moments = [at for at in self._look_at.values() if now < at < NEVER]
        return min(moments) - now if moments else None

    def emptied(self, names: Iterable[str]) -> None:
        """Nobody waits there any more."""
        for name in names:
            self._look_at.pop(name, None)

    def began(self, names: Mapping[str, str]) -> None:
        """Jobs, each at its gate: the end of one of a limited key is worth a look."""
        self._running.update({job: name for job, name in names.items() if SEPARATOR in name})

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
