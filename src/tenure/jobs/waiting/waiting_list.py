"""Who waits for which job, and when each is to look again. No thread and no database in here."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field

from tenure.core.errors import JobNotFound
from tenure.core.job import Job
from tenure.wakeups.ended_jobs import EVERY_JOB

FIRST_PAUSE = 0.01
LONGEST_PAUSE = 0.5
TOLD_PAUSE = 2.0
"""Where workers tell of the end, a look is only a safeguard against a lost message."""
# Looks that are due so soon after another share its statement.
TOGETHER_SECONDS = 0.02


@dataclass(eq=False, slots=True)
class Waiter:
    """One who waits: until when, and when the next look is due."""

    job_id: str
    deadline: float
    answer: Future[Job] = field(default_factory=Future)
    due: float = 0.0
    pause: float = FIRST_PAUSE

    def take(self, job: Job | None, now: float, *, told: bool) -> bool:
        """Take what a look found; True if the waiter needs no other look."""
        if job is None:
            self._end(lambda: self.answer.set_exception(JobNotFound(self.job_id)))
        elif job.state.final or now >= self.deadline:
            self._end(lambda: self.answer.set_result(job))
        else:
            self.pause = TOLD_PAUSE if told else min(self.pause * 2, LONGEST_PAUSE)
            self.due = min(now + self.pause, self.deadline)
        return self.answer.done()

    def put_off(self, now: float) -> None:
        """A look failed: the database may be back before the deadline."""
        self.due = min(now + LONGEST_PAUSE, max(self.deadline, now + FIRST_PAUSE))

    def fail(self, error: Exception) -> None:
        """Answer with an error: no look was possible before the deadline."""
        self._end(lambda: self.answer.set_exception(error))

    def _end(self, say: Callable[[], None]) -> None:
        # False where whoever waited has given up: there is nobody to answer.
        if self.answer.set_running_or_notify_cancel():
            say()


class WaitingList:
    """The waiters of one process, by job. Any thread may use it."""

    def __init__(self) -> None:
        # Reentrant: a caller holds it to make "nobody waits" and "so the thread ends" one step.
        self.lock = threading.RLock()
        self._waiting: dict[str, list[Waiter]] = {}

    def __len__(self) -> int:
        with self.lock:
            return sum(map(len, self._waiting.values()))

    @property
    def ids(self) -> list[str]:
        """The jobs that somebody waits for."""
        with self.lock:
            return list(self._waiting)

    def add(self, waiter: Waiter) -> None:
        """From now on it is part of every look that is due."""
        with self.lock:
            self._waiting.setdefault(waiter.job_id, []).append(waiter)

    def remove(self, waiter: Waiter) -> None:
        """It does not wait any more."""
        with self.lock:
            others = self._waiting.get(waiter.job_id, [])
            if waiter in others:
                others.remove(waiter)
            if not others:
                self._waiting.pop(waiter.job_id, None)

    def remove_all(self) -> list[Waiter]:
        """Empty the list; returns who was on it."""
        with self.lock:
            waiters, self._waiting = self._of(self._waiting), {}
            return waiters

    def hasten(self, ids: Collection[str]) -> bool:
        """Make a look at these jobs due now; True if somebody waits for one of them."""
        with self.lock:
            found = list(self._waiting) if EVERY_JOB in ids else self._waiting.keys() & set(ids)
            for waiter in self._of(found):
                waiter.due = 0.0
            return bool(found)

    def cut_short(self) -> bool:
        """Every wait ends with the next look; True if somebody waits."""
        with self.lock:
            now = time.monotonic()
            for waiter in self._of(self._waiting):
                waiter.deadline, waiter.due = min(waiter.deadline, now), 0.0
            return bool(self._waiting)

    def due(self, now: float) -> list[Waiter]:
        """Those whose look is due, and those due soon after: one statement serves them all."""
        with self.lock:
            return [one for one in self._of(self._waiting) if one.due <= now + TOGETHER_SECONDS]

    def seconds_to_next(self, now: float) -> float | None:
        """How long until the next look is due; None if nobody waits."""
        with self.lock:
            dues = [waiter.due for waiter in self._of(self._waiting)]
        return max(TOGETHER_SECONDS / 2, min(dues) - now) if dues else None

    def _of(self, ids: Iterable[str]) -> list[Waiter]:
        return [waiter for job_id in ids for waiter in self._waiting[job_id]]
