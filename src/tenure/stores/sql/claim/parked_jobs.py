"""The limits at which a worker knows parked jobs, and when to look there again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Protocol

from tenure.core.rules.limits import BEHIND_NAME, SEPARATOR, Limit, Limits, behind, kind_of

GATES_AT_ONCE = 512
# Locks taken by one claim; other keys have their turn at the next.
KEYS_AT_ONCE = 32
# A kind's closed gate is asked again after this: a job of another process may have ended.
CLOSED_SECONDS = 0.05
MOST_KNOWN = 50_000
NEVER = float("inf")
Pair = tuple[str, str]
LanePosition = tuple[int, str]


class Locked(Protocol):
    """What there is to know of a gate after a claim has looked at it."""

    limit: Limit

    @property
    def left(self) -> float:
        """Its tokens."""
        ...

    @property
    def open(self) -> int:
        """How many may pass now."""
        ...


class ParkedJobs:
    """For one worker. Wrong or missing knowledge costs a look or a second, never a job.

    A closed gate is looked at again when a job that passed it has ended in this process, when its
    tokens are due, and at the next sweep. The gate of a kind also after a moment, because a job of
    another process may have made room.
    """

    def __init__(self) -> None:
        self._look_at: dict[str, float] = {}
        self._timed: set[str] = set()
        self._running: dict[str, str] = {}
        self._after: dict[str, str] = {}
        self.stopped: dict[Pair, LanePosition] = {}

    def __bool__(self) -> bool:
        return bool(self._look_at)

    def has(self, name: str) -> bool:
        """Whether jobs are known to wait at this gate."""
        return name in self._look_at

    @property
    def names(self) -> list[str]:
        """The gates at which jobs are known to wait."""
        return list(self._look_at)

    def add(self, name: str) -> None:
        """A job waits at this gate: look there at the next claim."""
        self._look_at[name] = 0.0

    def worth_a_look(self, now: float, limits: Limits, most: int = KEYS_AT_ONCE) -> set[str]:
        """Gates to look at in this claim. A sweep finds jobs at gates without a limit."""
        due = [
            name
            for name, at in self._look_at.copy().items()  # a copy: other threads add to it
            if at <= now and limits.concerns(name) and not limits.closed(name, now)
        ]
        keys = [name for name in due if SEPARATOR in name][:most]
        return {name for name in due if SEPARATOR not in name} | set(keys)

    def looked(self, names: Iterable[str], gates: Mapping[str, Locked], now: float) -> None:
        """Plan the next look at gates where jobs still wait: when tokens are due, or when told."""
        for name in names:
            if (
                self._look_at.pop(name, None) is not None
            ):  # removed and put in again: it goes to the end of the line
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
        """Seconds until there are tokens; None if only the end of a job makes room."""
        if not self._timed:
            return None
        looks = self._look_at.copy()
        moments = [looks[name] for name in self._timed.copy() if name in looks]
        return max(0.001, min(moments) - now) if moments else None

    def emptied(self, names: Iterable[str]) -> None:
        """No job waits at these gates any more."""
        for name in names:
            self._look_at.pop(name, None)
            self._timed.discard(name)

    def began(self, names: Mapping[str, str]) -> None:
        """Jobs that started, each with the gate it passed: look there when it ends."""
        if len(self._running) > MOST_KNOWN:  # jobs with a lost lease never end here
            self._running.clear()
        self._running.update(names)

    def ended(self, job_ids: Iterable[str]) -> None:
        """These jobs have ended: there may be room at their gates."""
        for job_id in job_ids if self._running else ():
            name = self._running.pop(job_id, None)
            if name is not None and name in self._look_at:
                self._look_at[name] = 0.0

    def spans(self, kinds: Iterable[str]) -> list[tuple[str, str]]:
        """Where a sweep looks for parked jobs: all gates of a kind, or from where it stopped."""
        return [(self._after.pop(kind, kind), behind(kind)) for kind in sorted(kinds)]

    def found(self, names: list[str], whole: Collection[str] = ()) -> None:
        """Gates that a sweep has shown. If there are more, the next sweep continues behind them.
        If these are all of a kind that was looked at as a `whole`, nobody waits at others.
        """
        last: dict[str, str] = {}
        counts: dict[str, int] = {}
        for name in names:
            kind = kind_of(name)
            last[kind], counts[kind] = name, counts.get(kind, 0) + 1
        for kind, count in counts.items():
            if count >= GATES_AT_ONCE:
                self._after[kind] = last[kind] + BEHIND_NAME
        shown = {kind for kind in whole if kind not in self._after}
        seen = set(names)
        self.emptied(one for one in self.names if kind_of(one) in shown and one not in seen)

    def resume(self, pair: Pair, place: LanePosition) -> LanePosition:
        """Where to look for lanes behind the first ones: where the last look stopped, once."""
        return max(place, self.stopped.pop(pair, place))
