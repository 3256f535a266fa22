"""A caller in a group commit: how it waits, and the answer it gets."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress

from tenure.core.job import NewJob
from tenure.stores.contract import Added

Answer = Added | Exception


class GroupMember:
    """`leads`: it is this caller's turn to write, for itself and for all who wait."""

    leads = False
    answer: Answer | None = None

    def __init__(self, job: NewJob) -> None:
        self.job = job

    def ring(self) -> None:
        """Wake the caller: it has an answer, or the turn to write."""
        raise NotImplementedError


class InThread(GroupMember):
    """The caller is a thread, which blocks on a lock: the cheapest thing to wait on."""

    def __init__(self, job: NewJob) -> None:
        super().__init__(job)
        self._bell = threading.Lock()
        self._bell.acquire()

    def ring(self) -> None:
        """Once for the turn and once for the answer; never twice before the caller has woken."""
        self._bell.release()

    def wait(self) -> None:
        """Until it rings."""
        self._bell.acquire()


class InCoroutine(GroupMember):
    """The caller is a coroutine; a thread writes for it."""

    def __init__(self, job: NewJob) -> None:
        super().__init__(job)
        self._loop = asyncio.get_running_loop()
        self.rung: asyncio.Future[None] = self._loop.create_future()

    def ring(self) -> None:
        """Nothing to do if the loop is closed: then nobody waits any more."""
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
