"""Finds lanes that a worker does not know yet: all of them, or those between the known ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from tenure.core.rules.shares import Lane
from tenure.stores.sql.claim.lane_cache import BEFORE_ALL, LaneCache, LanePosition
from tenure.stores.sql.claim.lane_gaps import gaps
from tenure.stores.sql.statement import Batch, Plan, Rows, Statement

# Bounds of one sweep: at most 2,048 lanes of a queue. What is behind them is found by the next
# sweeps, which continue where this one stopped.
LANES_AT_ONCE = 512
LOOKS = 4
LOOK_COLUMNS = ("queue", "after_priority", "after_tenant")
GAP_COLUMNS = ("queue", "priority", "from_tenant", "to_tenant")
LEVEL_COLUMNS = ("queue", "above", "below")


def look_in(queues: Iterable[str], cache: LaneCache) -> Plan[list[Lane]]:
    """The first lanes of these queues that have something due."""
    found = yield _lanes_behind(dict.fromkeys(queues, BEFORE_ALL))
    return cache.saw(found)


def look_everywhere(queues: Iterable[str], cache: LaneCache) -> Plan[list[Lane]]:
    """All lanes of these queues that have something due, some hundred at a time from the head.

    If there are more than a few looks show, the last look continues where the sweep before ended.
    """
    cache.look_anew()
    lanes: list[Lane] = []
    positions = dict.fromkeys(queues, BEFORE_ALL)
    for number in range(LOOKS):
        found = yield _lanes_behind(positions)
        lanes += cache.saw(found)
        positions = _ends(found)
        if number == LOOKS - 2:
            positions = cache.resumed(positions)
        if not positions:
            break
    cache.stopped.update(positions)
    return lanes


def look_between(queues: Collection[str], cache: LaneCache) -> Plan[None]:
    """Lanes that have appeared between the known ones: their jobs must not wait for a sweep."""
    between, levels = gaps([lane for lane in cache.known if lane.queue in queues], cache.glances)
    cache.glances += 1
    if between:
        cache.saw((yield Statement("claim_gaps", batch=Batch(GAP_COLUMNS, between))))
    if levels:
        cache.saw((yield Statement("claim_levels", batch=Batch(LEVEL_COLUMNS, levels))))


def _lanes_behind(positions: dict[str, LanePosition]) -> Statement:
    after = Batch(LOOK_COLUMNS, [(queue, *position) for queue, position in positions.items()])
    return Statement("claim_lanes", {"lanes": LANES_AT_ONCE}, after)


def _ends(found: Rows) -> dict[str, LanePosition]:
    """The last lane of each queue that may have more of them."""
    counts = Counter([queue for queue, *_ in found])
    last = {queue: (priority, tenant) for queue, priority, tenant, _ in found}
    return {queue: end for queue, end in last.items() if counts[queue] >= LANES_AT_ONCE}
