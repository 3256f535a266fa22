"""How many jobs of each queue run at a time, and how many wait in line for a slot."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping

from tenure.core.errors import OptionError
from tenure.worker.running.run import Run

MOST_WAITING = 500
# Claim ahead what the slots get through during one claim: then they never run dry.
AHEAD_SECONDS = 0.02
# A handler that takes longer than this is slow enough: nothing is claimed ahead for it.
SLOWEST_SECONDS = 0.2
# How fast the average follows: a slow run counts at once, quick ones only after many of them.
RISING = 0.3
FALLING = 0.05
NO_BATCHES: Mapping[str, int | None] = {}


class QueueLine:
    """The slots of one queue, the runs that wait for them, and how long its handlers take.

    `stuck` slots are taken by handlers that have run for a while, `coming` ones by tasks that are
    about to start. A `rated` queue claims nothing ahead, because a rate counts what begins;
    `prefetch` is the most that its options allow.
    """

    __slots__ = (
        "batch", "busy", "coming", "going_on", "prefetch", "rated", "seconds", "size", "stuck",
        "waiting",
    )  # fmt: skip

    def __init__(self, size: int, batch: int | None = None) -> None:
        self.size = size
        self.batch = size + MOST_WAITING if batch is None else batch
        self.prefetch: int | None = None
        self.rated = False
        self.busy = 0
        self.coming = 0
        self.going_on = False
        self.stuck = 0
        self.waiting: deque[Run] = deque()
        self.seconds: float | None = None

    @property
    def ahead(self) -> int:
        """How many jobs to have at hand: what the slots that are not stuck do in 20 ms."""
        if self.seconds is None or self.rated or self.prefetch == 0:
            return 0
        moving = max(0, self.size - self.stuck)
        ahead = int(moving * AHEAD_SECONDS / max(self.seconds, 1e-6))
        return min(MOST_WAITING if self.prefetch is None else self.prefetch, ahead)

    @property
    def free(self) -> int:
        """Slots that no run has and none waits for."""
        return self.size - self.busy - len(self.waiting)

    @property
    def room(self) -> int:
        """How many more to claim; 0 until there are enough to be worth a claim."""
        ahead = self.ahead
        room = self.free + ahead
        return min(room, self.batch) if room > ahead // 2 else 0

    def take_late(self, since: float) -> list[Run]:
        """Remove and return the runs that have waited since before this moment."""
        return self._take([run for run in self.waiting if run.waits_since < since])

    def take_held(self, gates: Collection[str]) -> list[Run]:
        """Remove and return the runs of kinds and keys that must not begin now. A run that has to
        be alone stays: it was announced.
        """
        return self._take(
            [
                run
                for run in self.waiting
                if (run.claimed.kind in gates or run.claimed.gate in gates) and not run.alone
            ]
        )

    def _take(self, leaving: list[Run]) -> list[Run]:
        if leaving:
            gone = set(leaving)
            kept = [run for run in self.waiting if run not in gone]
            self.waiting.clear()
            self.waiting.extend(kept)
        return leaving

    def took(self, seconds: float) -> None:
        """Count the time of one run. Slow runs weigh more than quick ones: if handlers differ
        widely, little is claimed ahead.
        """
        seconds = min(seconds, SLOWEST_SECONDS)
        before = seconds if self.seconds is None else self.seconds
        self.seconds = before + (seconds - before) * (RISING if seconds > before else FALLING)


class Slots:
    """Slots per queue, so that ten jobs of a heavy queue never block another queue.

    `working` holds the runs that have a slot.
    """

    def __init__(
        self, capacity: Mapping[str, int], batches: Mapping[str, int | None] = NO_BATCHES
    ) -> None:
        if any(count < 1 for count in capacity.values()):
            raise OptionError("a queue needs at least one slot")
        self.lines = {
            queue: QueueLine(size, batches.get(queue)) for queue, size in capacity.items()
        }
        self.working: set[Run] = set()

    @property
    def capacity(self) -> Mapping[str, int]:
        """Slots by queue."""
        return {queue: line.size for queue, line in self.lines.items()}

    @property
    def total(self) -> int:
        """All slots of all queues."""
        return sum(line.size for line in self.lines.values())

    @property
    def waiting(self) -> bool:
        """Whether any run waits for a slot."""
        return any(line.waiting for line in self.lines.values())

    @property
    def starting(self) -> bool:
        """Whether any run waits though its queue has a free slot."""
        return any(line.waiting and line.busy < line.size for line in self.lines.values())

    def room(self, at_most: int | None = None) -> dict[str, int]:
        """How many to claim from each queue, no more than `at_most` in all."""
        left = self.total + MOST_WAITING * len(self.lines) if at_most is None else at_most
        found: dict[str, int] = {}
        for queue, line in self.lines.items():
            count = min(line.room, left)
            if count > 0:
                found[queue] = count
                left -= count
        return found

    def reserving(self, room: Mapping[str, int]) -> list[str]:
        """The queues with more jobs to claim than can begin at once."""
        return [queue for queue, count in room.items() if count > self.lines[queue].free]
