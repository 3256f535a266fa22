"""Ageing: a job that has been due for too long goes up by one step of priority, once.

Each call walks a bounded part of a queue's lanes and continues where the last one ended; behind
the last lane it begins anew. If nothing is old, a part is one look at each lane.
"""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from tenure.core.rules.shares import Lane
from tenure.core.timing.clock import seconds_to_micros
from tenure.stores.sql.claim.lane_cache import BEFORE_ALL, HEAD, Floor, LanePosition
from tenure.stores.sql.rows import freed_lanes
from tenure.stores.sql.statement import Batch, Plan, Rows, Statement

# Bounds of one part: lanes looked at, old jobs read of each lane, jobs lifted in all.
LANES = 64
FIRST = 100
AT_ONCE = 500
FLOORS_KEPT = 1_000
LOOK_COLUMNS = ("queue", "after_priority", "after_tenant")
LANE_COLUMNS = ("queue", "priority", "tenant", "floor_run_at", "floor_id")


class OldJob(NamedTuple):
    """A row of `old_jobs`."""

    queue: str
    priority: int
    tenant: str
    run_at: int
    id: int
    lifted: int


LANE = attrgetter("queue", "priority", "tenant")


class Walk:
    """How far the walk through one queue is: the last lane of the part before, and the position
    in lanes with more old jobs than one part looks at.
    """

    def __init__(self) -> None:
        self.after: LanePosition = BEFORE_ALL
        self.floors: dict[Lane, Floor] = {}

    def looked(self, found: Rows) -> list[Lane]:
        """The lanes of this part, without those whose priority cannot go up any further."""
        lanes = [(Lane(queue, priority, tenant), due) for queue, priority, tenant, due in found]
        self.after = BEFORE_ALL
        if len(lanes) >= LANES:
            last, _ = lanes[-1]
            self.after = (last.priority, last.tenant)
        return [lane for lane, due in lanes if lane.priority > 0 and due]

    def reached(self, lanes: list[Lane], old: list[OldJob]) -> list[int]:
        """The jobs to lift, lane by lane, until they are enough for one part. The next part begins
        behind the last of these lanes. A lane that showed all it has begins anew.
        """
        if len(self.floors) > FLOORS_KEPT:  # many are of lanes that may never come again
            self.floors.clear()
        found = {Lane(*lane): list(jobs) for lane, jobs in groupby(sorted(old), key=LANE)}
        ids: list[int] = []
        for lane in lanes:
            jobs = found.get(lane, [])
            ids += [job.id for job in jobs if not job.lifted]
            self.floors.pop(lane, None)
            if len(jobs) >= FIRST:
                self.floors[lane] = (jobs[-1].run_at, jobs[-1].id)
            if len(ids) >= AT_ONCE:
                self.after = (lane.priority, lane.tenant)
                break
        return ids


def lift(queue: str, seconds: float, walk: Walk) -> Plan[list[Lane]]:
    """The lanes that the lifted jobs are in now, one for each job."""
    after = Batch(LOOK_COLUMNS, [(queue, *walk.after)])
    lanes = walk.looked((yield Statement("claim_lanes", {"lanes": LANES}, after)))
    if not lanes:
        return []
    places = [(*lane, *walk.floors.get(lane, HEAD)) for lane in lanes]
    values = {"ageing": seconds_to_micros(seconds), "first": FIRST}
    old = yield Statement("old_jobs", values, Batch(LANE_COLUMNS, places))
    ids = sorted(walk.reached(lanes, [OldJob(*row) for row in old]))
    if not ids:
        return []
    return freed_lanes((yield Statement("lift_jobs", {"ids": ids})))
