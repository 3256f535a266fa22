"""Hints that a job began or ended: from this process, and from others on PostgreSQL.

A hint only says where to look. Without hints, a look covers the newest and the running jobs.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import Any

from tenure.app import Tenure
from tenure.wakeups.ended_jobs import EVERY_JOB

# More ids than one look should read; then it is cheaper to tell clients to read their lists.
MOST = 5_000
ASK_AGAIN = 10.0
LISTEN_AGAIN = 5.0
SAID = ("jobs.enqueued", "job.started", "job.settled", "job.ended")


class Hints:
    """Ids of jobs, added by any thread and taken by the next look."""

    def __init__(self, engine: Tenure) -> None:
        self._engine = engine
        # append and popleft of a deque are atomic: any thread adds without a lock.
        self._said: deque[Collection[str]] = deque(maxlen=MOST + 1)
        self._stops: list[Callable[[], None]] = []
        self._listening: asyncio.Task[None] | None = None

    def say(self, ids: Collection[str]) -> None:
        """Note that something happened to these jobs."""
        self._said.append(ids)

    def take(self) -> set[str] | None:
        """The ids since the last call; None if there are too many to look at."""
        found: set[str] = set()
        whole = len(self._said) <= MOST
        while self._said:
            found.update(self._said.popleft())
        return found if whole and len(found) <= MOST and EVERY_JOB not in found else None

    def start(self) -> None:
        """Begin to listen."""
        engine = self._engine
        self._stops = [
            engine.signals.subscribe(self._hear, *SAID),
            engine.store.wakeups.ended_jobs.subscribe(self.say),
        ]
        self._listening = asyncio.get_running_loop().create_task(self._listen())

    def stop(self) -> None:
        """Stop listening, and forget what was noted."""
        for stop in self._stops:
            stop()
        if self._listening is not None:
            self._listening.cancel()
        self._said.clear()

    def _hear(self, _: str, facts: Mapping[str, Any]) -> None:
        self.say(facts["ids"] if "ids" in facts else [facts["id"]])

    async def _listen(self) -> None:
        """Hear of jobs that end elsewhere. A missed message only delays an event."""
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
