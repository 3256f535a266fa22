"""Ended jobs: those who wait for a job are told of its end, in this process and in others.

Workers tell other processes only of jobs that somebody has asked for, so a fleet in which nobody
waits spends nothing on it. Like a wake-up it is a hint: whoever waits also polls.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple, Protocol

EVERY_JOB = ""
"""In place of a job's id: there are too many to name."""

# A question that is not repeated is forgotten: its process may have died.
ASKED_SECONDS = 30.0
# Ended jobs are remembered for questions that were under way when they ended.
RECENT_SECONDS = 2.0
MOST_ASKED = 50_000  # beyond that everything is told
Ended = Callable[[Collection[str]], None]


class IdSender(Protocol):
    """Carries ids of jobs to other processes."""

    def pass_on(self, names: Collection[str]) -> None:
        """Send soon, from a thread of its own."""
        ...

    def close(self, seconds: float = 1.0) -> None:
        """Send what is left, within this time."""
        ...


class IdListener(Protocol):
    """Brings the ids that other processes send."""

    async def listen(self, heard: Ended, begun: Callable[[], None]) -> None:
        """Call `begun` when connected, then `heard` from this loop, until cancelled or broken."""
        ...


class RecentlyEnded(NamedTuple):
    """Jobs that ended a moment ago, kept for questions that arrive late."""

    at: float
    ids: Sequence[str]


class EndedJobs:
    """What the processes of a store tell each other about jobs that have ended.

    `asks` sends the ids that are waited for, `answers` those that have ended. `listener` brings
    the answers of other processes.
    """

    def __init__(
        self,
        asks: IdSender | None = None,
        answers: IdSender | None = None,
        listener: IdListener | None = None,
    ) -> None:
        self._asks = asks
        self._answers = answers
        self.listener = listener
        self._here: tuple[Ended, ...] = ()
        self._asked: dict[str, float] = {}
        self._recent: deque[RecentlyEnded] = deque()

    def subscribe(self, ended: Ended) -> Callable[[], None]:
        """Call `ended(ids)` from any thread; returns how to unsubscribe."""
        self._here = (*self._here, ended)
        return lambda: self._remove(ended)

    def finished(self, ids: Sequence[str]) -> None:
        """These have ended, and everybody can see it by now."""
        for ended in self._here:
            ended(ids)
        if self._answers is None or not ids:
            return
        now = time.monotonic()
        self._recent.append(RecentlyEnded(now, ids))
        while self._recent[0].at < now - RECENT_SECONDS:
            self._recent.popleft()
        if self._asked:
            self._answer(ids, now)

    def announce(self, ids: Sequence[str]) -> None:
        """The same for a process that does not hear what others ask for."""
        for ended in self._here:
            ended(ids)
        if self._answers is not None and ids:
            self._answers.pass_on(ids)

    def ask(self, ids: Collection[str]) -> None:
        """Somebody in this process waits for these; ask again while that is so."""
        if self._asks is not None and ids:
            self._asks.pass_on(ids)

    def asked(self, ids: Iterable[str]) -> None:
        """Another process waits for these. Some may have ended before its question arrived."""
        now = time.monotonic()
        if len(self._asked) > MOST_ASKED:
            self._asked = {EVERY_JOB: now + ASKED_SECONDS}
        self._asked.update(dict.fromkeys(ids, now + ASKED_SECONDS))
        for recent in list(self._recent):
            self._answer(recent.ids, now)

    def close(self) -> None:
        """Stop the senders. The next use starts them again."""
        for line in (self._asks, self._answers):
            if line is not None:
                line.close()

    def _answer(self, ids: Sequence[str], now: float) -> None:
        asked = self._asked
        if asked.get(EVERY_JOB, 0.0) > now:
            found = list(ids)
        else:
            found = [job_id for job_id in ids if asked.pop(job_id, 0.0) > now]
        if found and self._answers is not None:
            self._answers.pass_on(found)

    def _remove(self, ended: Ended) -> None:
        self._here = tuple(one for one in self._here if one is not ended)
