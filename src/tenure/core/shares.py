"""How free slots are divided over lanes: strictly between priorities, in turn within one.

A lane is (queue, priority, tenant). Sharing is a rule over plain values, so that fairness never
becomes a condition inside a statement.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter


@dataclass(frozen=True, slots=True, order=True)
class Lane:
    """The unit that is scanned."""

    queue: str
    priority: int
    tenant: str


@dataclass(frozen=True, slots=True)
class Take:
    """At most `count` jobs from this lane."""

    lane: Lane
    count: int


def by_priority(lanes: Iterable[Lane]) -> list[list[Lane]]:
    """The lanes in levels, best priority first."""
    ordered = sorted(lanes, key=attrgetter("priority", "queue", "tenant"))
    return [list(level) for _, level in groupby(ordered, key=attrgetter("priority"))]


def divide(level: Sequence[Lane], slots: Mapping[str, int], turn: int = 0) -> list[Take]:
    """The slots of each queue, spread evenly over its lanes; `turn` says who gets the odd one."""
    takes: list[Take] = []
    for queue in dict.fromkeys(lane.queue for lane in level):
        lanes = [lane for lane in level if lane.queue == queue]
        share, odd = divmod(max(0, slots.get(queue, 0)), len(lanes))
        first = turn % len(lanes)
        rotated = lanes[first:] + lanes[:first]
        counts = (share + (place < odd) for place in range(len(rotated)))
        takes += [Take(lane, count) for lane, count in zip(rotated, counts, strict=True) if count]
    return takes
