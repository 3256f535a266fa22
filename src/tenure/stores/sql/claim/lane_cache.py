"""What a worker remembers of the due index: its lanes, and how far it has got in each.

The floor of a lane is the position of the last claim. The next claim starts behind it, and does
not walk again over entries that are dead or meant for others. A sweep from the head finds what a
floor passes over.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

from tenure.core.job import NewJob
from tenure.core.rules.shares import Lane, Tally
from tenure.stores.sql.claim.known_rules import KnownRules
from tenure.stores.sql.claim.parked_jobs import ParkedJobs
from tenure.stores.sql.claim.sweep_timer import SweepTimer
from tenure.stores.sql.statement import Rows

Floor = tuple[int, int]
"""run_at and id of the last job that was claimed."""
HEAD: Floor = (-1, -1)
LanePosition = tuple[int, str]
"""Priority and tenant: where a look at the lanes of a queue starts."""
BEFORE_ALL: LanePosition = (-(2**40), "")
# Drained lanes are asked again at each claim that has slots left, so only a few are kept.
DRAINED_KEPT = 16


class LaneCache:
    """One worker's lanes. Wrong or missing knowledge costs time, never a job.

    `live` lanes gave all that was asked of them. `drained` ones did not, and are asked only for
    the slots that the others leave free. `stopped` is where a look at a queue reached its bound.

    Other threads add lanes while a claim reads them. So every loop runs over a copy, which the
    interpreter makes in one step.
    """

    def __init__(self) -> None:
        self.live: dict[Lane, Floor] = {}
        self.drained: dict[Lane, Floor] = {}
        self.stopped: dict[str, LanePosition] = {}
        self.paused: frozenset[str] = frozenset()
        self.tally = Tally()
        self.glances = 0
        self.timer = SweepTimer()
        self.parked = ParkedJobs()
        self.rules = KnownRules()

    @property
    def known(self) -> list[Lane]:
        """All lanes that have a floor."""
        return [*self.live, *self.drained]

    def live_in(self, queues: Container[str]) -> list[Lane]:
        """Live lanes of these queues."""
        return [lane for lane in list(self.live) if lane.queue in queues]

    def drained_in(self, queues: Container[str]) -> list[Lane]:
        """Drained lanes of these queues."""
        return [lane for lane in list(self.drained) if lane.queue in queues]

    def learn(self, jobs: Iterable[NewJob]) -> None:
        """Jobs were added in this process: their lanes are live without a sweep."""
        for job in jobs:
            lane = Lane(job.queue, job.priority, job.tenant)
            if job.run_at is not None:  # it may be due before the floor
                self.live[lane] = HEAD
            elif lane not in self.live:
                self.live[lane] = self.drained.get(lane, HEAD)

    def revive(self, lanes: Iterable[Lane]) -> None:
        """These lanes got a job that may stand before their floors."""
        self.live.update(dict.fromkeys(lanes, HEAD))

    def forget(self) -> None:
        """Jobs were moved: look from the head next time."""
        self.live, self.drained = {}, {}
        self.timer.forget()

    def look_anew(self) -> None:
        """Before a sweep, which sees live lanes again. A few others keep their floors."""
        before = self.drained | self.live
        self.live = {}
        self.drained = dict(list(before.items())[-DRAINED_KEPT:])

    def saw(self, found: Rows) -> list[Lane]:
        """Lanes that a look has shown; answers those that have something due."""
        lanes = [(Lane(queue, priority, tenant), due) for queue, priority, tenant, due in found]
        live = [lane for lane, due in lanes if due]
        self.live.update(dict.fromkeys(live, HEAD))
        for lane, due in lanes:
            if not due:
                self.took(lane, None, full=False)
        return live

    def resumed(self, positions: Mapping[str, LanePosition]) -> dict[str, LanePosition]:
        """Where to look after the head: where the look before stopped, once."""
        return {
            queue: max(position, self.stopped.pop(queue, BEFORE_ALL))
            for queue, position in positions.items()
        }

    def floor(self, lane: Lane) -> Floor:
        """Where to start in a lane."""
        return self.live.get(lane) or self.drained.get(lane) or HEAD

    def took(self, lane: Lane, last: Floor | None, *, full: bool) -> None:
        """A claim ended at `last`; `full` if the lane gave all that was asked."""
        floor = max(last or HEAD, self.floor(lane))
        self.live.pop(lane, None)
        self.drained.pop(lane, None)
        if not full:
            self.tally.leave(lane)
        if full:
            self.live[lane] = floor
        elif len(self.drained) < DRAINED_KEPT:
            self.drained[lane] = floor
