"""The port for the ends of jobs: who waits for which, in this process and in others.

Workers tell of what has ended only where somebody has asked for it, so that a fleet in which
nobody waits spends nothing on it. Like a wake-up it is a hint: whoever waits also looks.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Protocol

EVERY_JOB = ""
"""In place of a job's id: too many to name."""

ASKED_SECONDS = 30.0
RECENT_SECONDS = 2.0
MOST_ASKED = 50_000
Ended = Callable[[Collection[str]], None]


class Line(Protocol):
    """Carries ids of jobs to other processes."""

    def pass_on(self, names: Collection[str]) -> None:
        """Soon, from a thread of its own."""
        ...

    def close(self, seconds: float = 1.0) -> None:
        """Say what is left to say, within this time."""
        ...


class Hearing(Protocol):
    """Brings the ids that other processes say."""

    async def listen(self, heard: Ended, begun: Callable[[], None]) -> None:
        """Call `begun` when connected, then `heard` from this loop, until cancelled or broken."""
        ...


class EndedJobs:
    """What a store's processes tell each other of jobs that have ended.

    `asks` carries what is waited for, `answers` what has ended; `listener` brings the answers.
    """

    def __init__(
        self,
        asks: Line | None = None,
        answers: Line | None = None,
        listener: Hearing | None = None,
    ) -> None:
        self._asks = asks
        self._answers = answers
        self.listener = listener
        self._here: tuple[Ended, ...] = ()
        self._asked: dict[str, float] = {}
        self._recent: deque[tuple[float, Sequence[str]]] = deque()

    def subscribe(self, ended: Ended) -> Callable[[], None]:
        """Call `ended(ids)` from whatever thread tells; returns how to stop."""
        self._here = (*self._here, ended)
        return lambda: self._remove(ended)

    def finished(self, ids: Sequence[str]) -> None:
        """These have ended, and whoever looks now can see it."""
        for ended in self._here:
            ended(ids)
        if self._answers is None or not ids:
            return
        now = time.monotonic()
        self._recent.append((now, ids))
        while self._recent[0][0] < now - RECENT_SECONDS:
            self._recent.popleft()
        if self._asked:
            self._answer(ids, now)

    def announce(self, ids: Sequence[str]) -> None:
        """The same, where we cannot know whether anybody has asked."""
        for ended in self._here:
            ended(ids)
        if self._answers is not None and ids:
            self._answers.pass_on(ids)

    def ask(self, ids: Collection[str]) -> None:
        """Somebody here waits for these, and will ask again while that is so."""
        if self._asks is not None and ids:
            self._asks.pass_on(ids)

    def asked(self, ids: Iterable[str]) -> None:
        """Another process waits for these; some may have ended before its question came."""
        now = time.monotonic()
        if len(self._asked) > MOST_ASKED:
            self._asked = {EVERY_JOB: now + ASKED_SECONDS}
        self._asked.update(dict.fromkeys(ids, now + ASKED_SECONDS))
        for _, ended in list(self._recent):
            self._answer(ended, now)

    def close(self) -> None:
        """Let go of what carries; the next use starts it again."""
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
