"""Lifts what has waited too long by one step of priority, once.

A walk through the lanes of a queue, a bounded part at a time: it goes on where the part before
ended, and begins anew behind the last lane. Where nothing is old, a part is one look at each lane.
"""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter

from tenure.core.rules.shares import Lane
from tenure.core.timing.clock import seconds_to_micros
from tenure.stores.sql.claim.lane_cache import BEFORE_ALL, HEAD, Floor, Place
from tenure.stores.sql.statement import Batch, Plan, Rows, Statement

LANES = 64
FIRST = 100
AT_ONCE = 500
FLOORS_KEPT = 1_000
LOOK_COLUMNS = ("queue", "after_priority", "after_tenant")
LANE_COLUMNS = ("queue", "priority", "tenant", "floor_run_at", "floor_id")
LANE = itemgetter(0, 1, 2)


class Walk:
    """How far the walk through one queue is: the last lane of the part before, and the place that
    was reached in lanes with more old jobs than one part looks at.
    """

    def __init__(self) -> None:
        self.after: Place = BEFORE_ALL
        self.floors: dict[Lane, Floor] = {}

    def looked(self, found: Rows) -> list[Lane]:
        """The lanes of this part. What cannot go up any further is left out."""
        more = len(found) >= LANES
        self.after = (found[-1][1], found[-1][2]) if more else BEFORE_ALL
        return [Lane(*row[:3]) for row in found if row[1] > 0 and row[3]]

    def reached(self, lanes: list[Lane], old: Rows) -> list[int]:
        """Which jobs to lift, from lane to lane, until they are enough for one part; the next one
        begins behind the last of these lanes. A lane that showed all it has begins anew.
        """
        if len(self.floors) > FLOORS_KEPT:  # of lanes that may never come again
            self.floors.clear()
        found = {Lane(*key): list(part) for key, part in groupby(sorted(old), key=LANE)}
        ids: list[int] = []
        for lane in lanes:
            rows = found.get(lane, [])
            ids += [row[4] for row in rows if not row[5]]
            self.floors.pop(lane, None)
            if len(rows) >= FIRST:
                self.floors[lane] = (rows[-1][3], rows[-1][4])
            if len(ids) >= AT_ONCE:
                self.after = (lane.priority, lane.tenant)
                break
        return ids


def lift(queue: str, seconds: float, walk: Walk) -> Plan[list[Lane]]:
    """The lanes that lifted jobs are in now, one for each job."""
    after = Batch(LOOK_COLUMNS, [(queue, *walk.after)])
    lanes = walk.looked((yield Statement("claim_lanes", {"lanes": LANES}, after)))
    if not lanes:
        return []
    places = [(*lane, *walk.floors.get(lane, HEAD)) for lane in lanes]
    values = {"ageing": seconds_to_micros(seconds), "first": FIRST}
    old = yield Statement("old_jobs", values, Batch(LANE_COLUMNS, places))
    ids = sorted(walk.reached(lanes, old))
    if not ids:
        return []
    lifted = yield Statement("lift_jobs", {"ids": ids})
    return [Lane(*row[1:4]) for row in lifted]
