"""How many jobs of each queue run here at a time, and how many may wait claimed for a slot."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping

from tenure.core.errors import OptionError
from tenure.worker.run import Run

MOST_WAITING = 500
AHEAD_SECONDS = 0.02
SMOOTHING = 0.1
CAREFUL_SECONDS = 10.0
NO_BATCHES: Mapping[str, int | None] = {}


class Lane:
    """The slots of one queue, what waits for them, and how long its handlers take."""

    __slots__ = (
        "batch",
        "busy",
        "careful_until",
        "coming",
        "prefetch",
        "seconds",
        "size",
        "waiting",
    )

    def __init__(self, size: int, batch: int | None = None) -> None:
        self.size = size
        self.batch = size + MOST_WAITING if batch is None else batch
        self.busy = 0
        self.coming = 0
        self.waiting: deque[Run] = deque()
        self.seconds: float | None = None
        self.careful_until = 0.0
        self.prefetch: int | None = None

    def be_careful(self) -> None:
        """A job came whose last holder did not survive it."""
        self.careful_until = time.monotonic() + CAREFUL_SECONDS

    @property
    def ahead(self) -> int:
        """How many jobs to have at hand: what the slots get through in 20 ms. None of long ones,
        and none soon after a crash: a worker that dies takes an attempt from all it has claimed.
        """
        if self.seconds is None or time.monotonic() < self.careful_until:
            return 0
        return min(MOST_WAITING, int(self.size * AHEAD_SECONDS / max(self.seconds, 1e-6)))

    @property
    def room(self) -> int:
        """How many more may be claimed; nothing until that is worth a claim."""
        ahead = self.ahead
        room = self.size + ahead - self.busy - len(self.waiting)
        return min(room, self.batch) if room > ahead // 2 else 0

    def took(self, seconds: float) -> None:
        """A handler needed so long."""
        before = seconds if self.seconds is None else self.seconds
        self.seconds = before + (seconds - before) * SMOOTHING


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
