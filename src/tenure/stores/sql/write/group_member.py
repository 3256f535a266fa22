"""A caller's job on its way into the database: how the caller waits, and what it is told."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress

from tenure.core.job import NewJob
from tenure.stores.contract import Added

Answer = Added | Exception


class Ticket:
    """`leads`: it is this caller's turn to write, also for those who wait behind it."""

    leads = False
    answer: Answer | None = None

    def __init__(self, job: NewJob) -> None:
        self.job = job

    def ring(self) -> None:
        """There is news: an answer, or the turn to write."""
        raise NotImplementedError


class InThread(Ticket):
    """The caller is a thread that waits."""

    def __init__(self, job: NewJob) -> None:
        super().__init__(job)
        self._bell = threading.Lock()
        self._bell.acquire()

    def ring(self) -> None:
        """Once for the turn, once for the answer; never twice unheard."""
        self._bell.release()

    def wait(self) -> None:
        """Until it rings."""
        self._bell.acquire()


class InCoroutine(Ticket):
    """The caller is a coroutine; somebody else writes for it."""

    def __init__(self, job: NewJob) -> None:
        super().__init__(job)
        self._loop = asyncio.get_running_loop()
        self.rung: asyncio.Future[None] = self._loop.create_future()

    def ring(self) -> None:
        """A loop that is closed has nobody left who waits."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._set)

    def _set(self) -> None:
        if not self.rung.done():
            self.rung.set_result(None)


def result(answer: Answer | None) -> Added:
    """The caller's own id, or its own error."""
    if isinstance(answer, Added):
        return answer
    raise answer or AssertionError("nobody wrote this job")
