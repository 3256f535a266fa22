"""How many jobs of each queue run here at a time, and how many may wait claimed for a slot."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from tenure.core.errors import OptionError
from tenure.worker.running.run import Run

MOST_WAITING = 500
AHEAD_SECONDS = 0.02
SLOWEST_SECONDS = 0.2
RISING = 0.3
FALLING = 0.05
NO_BATCHES: Mapping[str, int | None] = {}


class Lane:
    """The slots of one queue, what waits for them, and how long its handlers take.

    `stuck` slots are kept by handlers that have run for a while. A `rated` queue claims nothing
    ahead, because a rate holds for what begins; `prefetch` is what its options allow at most.
    """

    __slots__ = (
        "batch", "busy", "coming", "prefetch", "rated", "seconds", "size", "stuck", "waiting",
    )  # fmt: skip

    def __init__(self, size: int, batch: int | None = None) -> None:
        self.size = size
        self.batch = size + MOST_WAITING if batch is None else batch
        self.prefetch: int | None = None
        self.rated = False
        self.busy = 0
        self.coming = 0
        self.stuck = 0
        self.waiting: deque[Run] = deque()
        self.seconds: float | None = None

    @property
    def ahead(self) -> int:
        """How many jobs to have at hand: what the slots that move get through in 20 ms."""
        if self.seconds is None or self.rated or self.prefetch == 0:
            return 0
        moving = max(0, self.size - self.stuck)
        ahead = int(moving * AHEAD_SECONDS / max(self.seconds, 1e-6))
        return min(MOST_WAITING if self.prefetch is None else self.prefetch, ahead)

    @property
    def free(self) -> int:
        """Slots that nobody has and nobody waits for."""
        return self.size - self.busy - len(self.waiting)

    @property
    def room(self) -> int:
        """How many more may be claimed; nothing until that is worth a claim."""
        ahead = self.ahead
        room = self.free + ahead
        return min(room, self.batch) if room > ahead // 2 else 0

    def take_late(self, since: float) -> list[Run]:
        """Those that have waited since before that moment leave the line."""
        late = [run for run in self.waiting if run.waits_since < since]
        if late:
            kept = [run for run in self.waiting if run.waits_since >= since]
            self.waiting.clear()
            self.waiting.extend(kept)
        return late

    def took(self, seconds: float) -> None:
        """A handler needed so long. A slow one is believed sooner than a quick one: where they
        differ widely, little is claimed ahead.
        """
        seconds = min(seconds, SLOWEST_SECONDS)
        before = seconds if self.seconds is None else self.seconds
        self.seconds = before + (seconds - before) * (RISING if seconds > before else FALLING)


class Slots:
    """Slots per queue: ten jobs of a heavy queue never block another queue."""

    def __init__(
        self, capacity: Mapping[str, int], batches: Mapping[str, int | None] = NO_BATCHES
    ) -> None:
        if any(count < 1 for count in capacity.values()):
            raise OptionError("a queue needs at least one slot")
        self.lanes = {queue: Lane(size, batches.get(queue)) for queue, size in capacity.items()}

    @property
    def capacity(self) -> Mapping[str, int]:
        """What there is in all."""
        return {queue: lane.size for queue, lane in self.lanes.items()}

    @property
    def total(self) -> int:
        """All slots of all queues."""
        return sum(lane.size for lane in self.lanes.values())

    @property
    def waiting(self) -> bool:
        """Something is in a line."""
        return any(lane.waiting for lane in self.lanes.values())

    @property
    def starting(self) -> bool:
        """Something is in a line that has free slots before it."""
        return any(lane.waiting and lane.busy < lane.size for lane in self.lanes.values())

    def room(self, at_most: int | None = None) -> dict[str, int]:
        """What to claim by queue, no more than `at_most` in all."""
        left = self.total + MOST_WAITING * len(self.lanes) if at_most is None else at_most
        found: dict[str, int] = {}
        for queue, lane in self.lanes.items():
            count = min(lane.room, left)
            if count > 0:
                found[queue] = count
                left -= count
        return found

    def reserving(self, room: Mapping[str, int]) -> list[str]:
        """The queues from which so many jobs are more than can begin at once."""
        return [queue for queue, count in room.items() if count > self.lanes[queue].free]
