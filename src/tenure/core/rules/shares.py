"""How free slots are divided over lanes: strictly between priorities, by weight within one.

A lane is (queue, priority, tenant). Sharing is a rule over plain values, so that fairness never
becomes a condition inside a statement.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from heapq import nsmallest
from itertools import groupby, islice
from operator import attrgetter
from types import MappingProxyType
from typing import NamedTuple

Weights = Mapping[str, float]
"""Weights of tenants; those that are not named weigh 1."""
NO_WEIGHTS: Weights = MappingProxyType({})
# Beyond this many lanes, slots go round in turns: an equal share would be less than a job.
MANY = 64
MOST_KNOWN = 50_000  # bounds the memory of a worker with very many tenants
TURN = 4
"""Jobs taken from a lane at once, if there are many lanes and few slots."""


class Lane(NamedTuple):
    """The unit that a claim scans in the due index."""

    queue: str
    priority: int
    tenant: str


class Take(NamedTuple):
    """At most `number` jobs from this lane."""

    lane: Lane
    number: int


def by_priority(lanes: Iterable[Lane]) -> list[list[Lane]]:
    """The lanes in levels, best priority first."""
    known = list(lanes)
    if len({lane.priority for lane in known}) == 1:  # the usual case, with very many tenants too
        return [known]
    ordered = sorted(known, key=attrgetter("priority", "queue", "tenant"))
    return [list(level) for _, level in groupby(ordered, key=attrgetter("priority"))]


class Age(NamedTuple):
    """When a waiting job of a lane was due."""

    run_at: int
    number: int
    lane: Lane


def oldest(ages: Iterable[Age], slots: Mapping[str, int]) -> list[Take]:
    """How many jobs of each lane, if the oldest jobs of a queue get its slots."""
    left, counts = dict(slots), dict[Lane, int]()
    for age in sorted(ages):
        if left.get(age.lane.queue, 0) > 0:
            left[age.lane.queue] -= 1
            counts[age.lane] = counts.get(age.lane, 0) + 1
    return [Take(lane, count) for lane, count in counts.items()]


class Tally:
    """What each lane has had, divided by its weight: the one that has had least is next.

    A lane that comes anew starts with the least that any other has had: nobody saves up turns. Of
    very many the oldest are forgotten, and come anew.
    """

    def __init__(self) -> None:
        self._had: dict[Lane, float] = {}

    def divide(
        self,
        level: Sequence[Lane],
        slots: Mapping[str, int],
        weights: Weights = NO_WEIGHTS,
        spare: float = 1,
    ) -> list[Take]:
        """The slots of each queue, spread by weight over its lanes of one priority.

        Very many lanes are offered `spare` times the slots, those that have had least first: some
        will have less than their turn.
        """
        takes: list[Take] = []
        for queue in dict.fromkeys(lane.queue for lane in level):
            if (free := slots.get(queue, 0)) > 0:
                lanes = [lane for lane in level if lane.queue == queue]
                takes += self._spread(lanes, free, weights, spare)
        return takes

    def charge(self, lane: Lane, count: int, weights: Weights = NO_WEIGHTS) -> None:
        """The lane has got so many jobs."""
        if count:
            self._had[lane] = self._had.get(lane, 0.0) + count / weight_of(lane, weights)
        if len(self._had) > MOST_KNOWN:  # keys and tenants that may never come again
            self._had = dict(islice(self._had.items(), MOST_KNOWN // 2, None))

    def leave(self, lane: Lane) -> None:
        """The lane has nothing more for now."""
        self._had.pop(lane, None)

    def _spread(
        self, lanes: Sequence[Lane], free: int, weights: Weights, spare: float
    ) -> list[Take]:
        if len(lanes) == 1:
            return [Take(lanes[0], free)]
        self._let_in(lanes)
        if len(lanes) > MANY and free < TURN * len(lanes):
            return self._turns(lanes, int(free * spare), weights)
        weigh = {lane: weight_of(lane, weights) for lane in lanes}
        each = free / sum(weigh.values())
        counts = {lane: int(each * weigh[lane]) for lane in lanes}
        odd = free - sum(counts.values())
        for lane in nsmallest(
            odd, lanes, key=lambda one: self._had[one] + (counts[one] + 1) / weigh[one]
        ):
            counts[lane] += 1
        return [Take(lane, count) for lane, count in counts.items() if count]

    def _turns(self, lanes: Sequence[Lane], free: int, weights: Weights) -> list[Take]:
        """With more lanes than slots, those that have had least get a few jobs each."""
        takes: list[Take] = []
        for lane in nsmallest(free, lanes, key=self._had.__getitem__):
            count = min(free, max(1, round(TURN * weight_of(lane, weights))))
            takes.append(Take(lane, count))
            free -= count
            if not free:
                break
        return takes

    def _let_in(self, lanes: Sequence[Lane]) -> None:
        least = min((self._had[lane] for lane in lanes if lane in self._had), default=0.0)
        for lane in lanes:
            self._had.setdefault(lane, least)


def weight_of(lane: Lane, weights: Weights) -> float:
    """The weight of the lane's tenant; 1 by default."""
    return weights.get(lane.tenant, 1.0)
