"""What a worker has learnt of the due index: its lanes, and how far it has got in each.

The floor of a lane is the position of the last claim: the next one starts behind it and does not
walk again over entries that are dead or not for us. A sweep from the head finds what a floor
passes over; it may take a twentieth of the time, so that a bloated index cannot eat the worker.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence

from tenure.core.job import NewJob
from tenure.core.rules.shares import Lane, Tally
from tenure.stores.sql.claim.parked_jobs import Parking
from tenure.stores.sql.claim.sweep_timer import Lookout
from tenure.stores.sql.statement import Rows

Floor = tuple[int, int]
HEAD: Floor = (-1, -1)
Place = tuple[int, str]
BEFORE_ALL: Place = (-(2**40), "")
DRAINED_KEPT = 16
MEMORIES_KEPT = 32


class Memory:
    """One worker's knowledge. Wrong or missing knowledge costs time, never a job.

    `live` lanes gave all that was asked of them; `drained` ones did not, and are asked only for
    what the others leave over. `stopped` is where a look came to its bound, by queue.

    Other threads add to it while a claim reads it: whoever goes through it goes through a copy,
    which a single step of the interpreter makes.
    """

    def __init__(self) -> None:
        self.live: dict[Lane, Floor] = {}
        self.drained: dict[Lane, Floor] = {}
        self.stopped: dict[str, Place] = {}
        self.paused: frozenset[str] = frozenset()
        self.tally = Tally()
        self.glances = 0
        self.lookout = Lookout()
        self.parking = Parking()

    @property
    def known(self) -> list[Lane]:
        """All lanes that have a floor here."""
        return [*self.live, *self.drained]

    def live_in(self, queues: Container[str]) -> list[Lane]:
        """Live lanes of these queues."""
        return [lane for lane in list(self.live) if lane.queue in queues]

    def drained_in(self, queues: Container[str]) -> list[Lane]:
        """Drained lanes of these queues."""
        return [lane for lane in list(self.drained) if lane.queue in queues]

    def learn(self, jobs: Iterable[NewJob]) -> None:
        """Jobs were added in this process: their lanes are worth a look without a sweep."""
        for job in jobs:
            lane = Lane(job.queue, job.priority, job.tenant)
            if job.run_at is not None:
                self.live[lane] = HEAD
            elif lane not in self.live:
                self.live[lane] = self.drained.get(lane, HEAD)

    def revive(self, lanes: Iterable[Lane]) -> None:
        """These got a job that may stand before their floors."""
        self.live.update(dict.fromkeys(lanes, HEAD))

    def forget(self) -> None:
        """Jobs were moved about: look from the head next time."""
        self.live, self.drained = {}, {}
        self.lookout.forget()

    def look_anew(self) -> None:
        """What is live now is to be seen again; a few lanes keep their floors if it is not."""
        before = self.drained | self.live
        self.live = {}
        self.drained = dict(list(before.items())[-DRAINED_KEPT:])

    def saw_more(self, found: Rows) -> list[Lane]:
        """Lanes in their order; the answer are those that have something due."""
        lanes = [(Lane(*row[:3]), row[3]) for row in found]
        due = [lane for lane, is_due in lanes if is_due]
        self.live.update(dict.fromkeys(due, HEAD))
        for lane, is_due in lanes:
            if not is_due:
                self.took(lane, None, full=False)
        return due

    def resumed(self, places: Mapping[str, Place]) -> dict[str, Place]:
        """Where to look after the head; a place is good for one time."""
        return {
            queue: max(place, self.stopped.pop(queue, BEFORE_ALL))
            for queue, place in places.items()
        }

    def floor(self, lane: Lane) -> Floor:
        """Where to start in a lane."""
        return self.live.get(lane) or self.drained.get(lane) or HEAD

    def took(self, lane: Lane, last: Floor | None, *, full: bool) -> None:
        """Where the claim ended, and whether there may be more."""
        floor = max(last or HEAD, self.floor(lane))
        self.live.pop(lane, None)
        self.drained.pop(lane, None)
        if not full:
            self.tally.leave(lane)
        if full:
            self.live[lane] = floor
        elif len(self.drained) < DRAINED_KEPT:
            self.drained[lane] = floor


class Memories:
    """One memory per worker and the kinds it knows; the oldest go when there are many."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, frozenset[str]], Memory] = {}

    def of(self, owner: str, kinds: Iterable[str]) -> Memory:
        """What this worker has learnt so far."""
        name = (owner, frozenset(kinds))
        found = self._found.get(name)
        if found is None:
            while len(self._found) >= MEMORIES_KEPT:
                self._found.pop(next(iter(self._found)), None)
            found = self._found[name] = Memory()
        return found

    def learn(self, jobs: Sequence[NewJob]) -> None:
        """Jobs were added in this process."""
        for memory in list(self._found.values()):
            memory.learn(jobs)

    def revive(self, lanes: Sequence[Lane]) -> None:
        """Jobs that were held may run now."""
        for memory in list(self._found.values()):
            memory.revive(lanes)

    def ended(self, job_ids: frozenset[str]) -> None:
        """Jobs have ended here."""
        for memory in list(self._found.values()):
            memory.parking.ended(job_ids)

    def forget(self) -> None:
        """Jobs or queues were changed by hand: claims look anew."""
        for memory in list(self._found.values()):
            memory.forget()
