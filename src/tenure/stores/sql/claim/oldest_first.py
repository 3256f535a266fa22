"""Queues without fair shares: within a priority the oldest job goes first, whatever its tenant."""

from __future__ import annotations

from tenure.core.rules.shares import Age, Lane, Take, oldest
from tenure.stores.contract import ClaimRequest
from tenure.stores.sql.claim.capacity import Capacity
from tenure.stores.sql.claim.lane_cache import LaneCache
from tenure.stores.sql.statement import Batch, Plan, Statement

AGE_COLUMNS = ("queue", "priority", "tenant", "floor_run_at", "floor_id")


def oldest_first(
    request: ClaimRequest, lanes: list[Lane], capacity: Capacity, cache: LaneCache
) -> Plan[list[Take]]:
    """How many jobs of each lane are among the oldest.

    If there are more lanes than slots, only those are read further whose first job is among the
    oldest.
    """
    if len(lanes) == 1:
        return [Take(lanes[0], capacity.slots[lanes[0].queue])]
    room = max(capacity.slots[lane.queue] for lane in lanes)
    if len(lanes) > room:
        firsts = yield from _ages(request, lanes, 1, cache)
        lanes = [one.lane for one in oldest(firsts, capacity.slots)]
    return oldest((yield from _ages(request, lanes, room, cache)), capacity.slots)


def _ages(
    request: ClaimRequest, lanes: list[Lane], first: int, cache: LaneCache
) -> Plan[list[Age]]:
    if not lanes:
        return []
    values = {"kinds": list(request.kinds), "first": first}
    places = [(*lane, *cache.floor(lane)) for lane in lanes]
    found = yield Statement("claim_ages", values, Batch(AGE_COLUMNS, places))
    return [
        Age(run_at, number, Lane(queue, priority, tenant))
        for queue, priority, tenant, run_at, number in found
    ]
