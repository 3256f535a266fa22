"""What is said of jobs that began or ended: here at once, elsewhere where the database carries it.

A hint only tells where to look. Without any, a look finds the newest jobs and those that run.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import Any

from tenure.app import Tenure
from tenure.wakeups.ended_jobs import EVERY_JOB

MOST = 5_000
ASK_AGAIN = 10.0
LISTEN_AGAIN = 5.0
SAID = ("jobs.enqueued", "job.started", "job.settled", "job.ended")


class Hints:
    """Gathered from whatever thread says them, taken by the next look."""

    def __init__(self, engine: Tenure) -> None:
        self._engine = engine
        self._said: deque[Collection[str]] = deque(maxlen=MOST + 1)
        self._stops: list[Callable[[], None]] = []
        self._listening: asyncio.Task[None] | None = None

    def say(self, ids: Collection[str]) -> None:
        """Something happened to these."""
        self._said.append(ids)

    def take(self) -> set[str] | None:
        """What was said since the last time; None where it was too much to look at."""
        found: set[str] = set()
        whole = len(self._said) <= MOST
        while self._said:
            found.update(self._said.popleft())
        return found if whole and len(found) <= MOST and EVERY_JOB not in found else None

    def start(self) -> None:
        """From now on."""
        engine = self._engine
        self._stops = [
            engine.signals.subscribe(self._hear, *SAID),
            engine.store.wakeups.ended_jobs.subscribe(self.say),
        ]
        self._listening = asyncio.get_running_loop().create_task(self._listen())

    def stop(self) -> None:
        """Nobody looks any more."""
        for stop in self._stops:
            stop()
        if self._listening is not None:
            self._listening.cancel()
        self._said.clear()

    def _hear(self, _: str, facts: Mapping[str, Any]) -> None:
        self.say(facts["ids"] if "ids" in facts else [facts["id"]])

    async def _listen(self) -> None:
        """Other processes tell of ends while somebody asks; being deaf for a while is no harm."""
        endings = self._engine.store.wakeups.ended_jobs
        if endings.listener is None:
            return
        asking = asyncio.ensure_future(self._ask())
        try:
            while True:
                with suppress(Exception):
                    await endings.listener.listen(self.say, lambda: None)
                await asyncio.sleep(LISTEN_AGAIN)
        finally:
            asking.cancel()

    async def _ask(self) -> None:
        while True:
            self._engine.store.wakeups.ended_jobs.ask([EVERY_JOB])
            await asyncio.sleep(ASK_AGAIN)
