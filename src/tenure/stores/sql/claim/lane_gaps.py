"""The gaps between a worker's known lanes, where new lanes may have appeared.

Each gap is an equal prefix with scalar bounds in the due index, so that a look into it reads a few
pages, however long the lanes around it are.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby, pairwise
from operator import attrgetter
from typing import TypeVar

from tenure.core.rules.shares import Lane

# Gaps looked into at once; a worker with more lanes takes turns.
AT_ONCE = 16
BEFORE_ALL_TENANTS = ""
BEHIND_ALL_TENANTS = "\U0010ffff"
BEHIND = "\x01"
"""The smallest suffix. Names have no control characters, so nothing sorts in between."""
LEVEL_MOST = 2**31 - 1

T = TypeVar("T")
Between = tuple[str, int, str, str]
Level = tuple[str, int, int]


def gaps(known: Iterable[Lane], turn: int) -> tuple[list[Between], list[Level]]:
    """Gaps between tenants of a priority and between priorities. `turn` picks some of many."""
    between: list[Between] = []
    levels: list[Level] = []
    ordered = sorted(known)
    for queue, lanes in groupby(ordered, key=attrgetter("queue")):
        priorities = [-1]
        for priority, level in groupby(lanes, key=attrgetter("priority")):
            priorities.append(priority)
            between += _between(queue, priority, [lane.tenant for lane in level])
        levels += [(queue, above, below) for above, below in pairwise([*priorities, LEVEL_MOST])]
    return _some(between, turn), _some(levels, turn)


def _between(queue: str, priority: int, tenants: list[str]) -> list[Between]:
    """Before the first tenant, behind each one."""
    starts = [BEFORE_ALL_TENANTS, *(tenant + BEHIND for tenant in tenants)]
    ends = [*tenants, BEHIND_ALL_TENANTS]
    pairs = zip(starts, ends, strict=True)
    return [(queue, priority, start, end) for start, end in pairs if start < end]


def _some(found: list[T], turn: int) -> list[T]:
    if len(found) <= AT_ONCE:
        return found
    first = turn * AT_ONCE % len(found)
    return (found + found)[first : first + AT_ONCE]
