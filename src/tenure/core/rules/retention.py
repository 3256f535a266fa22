"""How long finished jobs are kept, and how far a walk over them has come. Pure.

A walk goes by id, chunk by chunk, and remembers its place. Jobs finish roughly in the order of
their ids, so it stops before those that are too young to have ended long enough ago, and goes on
from there next time. What ended unusually late is met by the next walk from the start.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from tenure.core.job import DEAD_LETTERS, FINAL_STATES, State

ORDINARY = tuple(state for state in FINAL_STATES if state not in DEAD_LETTERS)
# A walk stops before jobs that are younger than this: they may still end.
LONGEST_RUN = timedelta(hours=1)
SOONEST_WALK = timedelta(minutes=1)
LATEST_WALK = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Purged:
    """What one chunk removed. `next` goes on from there; None is the end of the table.

    `reached` is when the last job that the chunk looked at was created. `left` are the kinds of
    jobs that stay because a feature follows them that this process does not have.
    """

    removed: int = 0
    keys: int = 0
    next: str | None = None
    reached: datetime | None = None
    left: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """How long jobs that ended in these states are kept."""

    name: str
    states: tuple[State, ...]
    keep: timedelta

    @property
    def late(self) -> timedelta:
        """How long after its creation an ordinary job may end: a walk waits so much longer."""
        return min(self.keep / 10, LONGEST_RUN)

    @property
    def again(self) -> timedelta:
        """How long after the start of a walk the next one may start."""
        return min(max(self.keep, SOONEST_WALK), LATEST_WALK)


@dataclass(frozen=True, slots=True)
class Walk:
    """A walk over the table: when it began, and behind which job it continues."""

    begun: datetime
    after: str | None = None


def rules(keep: float | None, keep_letters: float | None) -> tuple[Rule, ...]:
    """The rules for these seconds; None keeps jobs for ever."""
    wanted = (("finished", ORDINARY, keep), ("dead letters", DEAD_LETTERS, keep_letters))
    return tuple(
        Rule(name=name, states=states, keep=timedelta(seconds=seconds))
        for name, states, seconds in wanted
        if seconds is not None
    )


def resume(rule: Rule, walk: Walk | None, now: datetime) -> Walk:
    """The walk to continue; a new one if there was none, or if the last began long ago."""
    if walk is None or (now - walk.begun >= rule.again):
        return Walk(now)
    return walk


def onward(rule: Rule, walk: Walk, part: Purged, before: datetime) -> Walk | None:
    """The walk behind this chunk; None at the end, or if the rest is too young."""
    if part.next is None or (part.reached is not None and part.reached > before - rule.late):
        return None
    return replace(walk, after=part.next)
