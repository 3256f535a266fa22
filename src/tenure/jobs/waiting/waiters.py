"""Everybody in this process who waits for a job to end: one thread and one look for all."""

from __future__ import annotations

import asyncio
import math
import os
import time

from tenure.core.errors import OptionError
from tenure.core.job import Job
from tenure.core.signals import Signals
from tenure.jobs.waiting.end_watch import EndWatch
from tenure.jobs.waiting.waiting_list import Waiter, WaitingList
from tenure.stores.contract import Store
from tenure.wakeups.due_jobs import Complaints


class Waiters:
    """`app.waiters`: the waiters of one process and store. The first one starts the thread."""

    _watch: EndWatch | None

    def __init__(self, store: Store, signals: Signals) -> None:
        self._store = store
        self._complaints = Complaints(signals)
        self._begin_anew()

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def told(self) -> bool:
        """Whether workers of other processes tell us of ends now."""
        return self._watch is not None and self._watch.told

    def wait(self, job_id: str, seconds: float) -> Job:
        """The job when it is final, or as it is after `seconds`."""
        waiter = self.enter(job_id, seconds)
        try:
            return waiter.answer.result()
        finally:
            self.leave(waiter)

    async def wait_async(self, job_id: str, seconds: float) -> Job:
        """The same on a running loop."""
        waiter = self.enter(job_id, seconds)
        try:
            return await asyncio.wrap_future(waiter.answer)
        finally:
            self.leave(waiter)

    def enter(self, job_id: str, seconds: float) -> Waiter:
        """Begin to wait; call `leave` in any case. No end after this call is missed."""
        if self._process != os.getpid():
            self._begin_anew()  # a fork: the thread and the waiters are the parent's
        waiter = Waiter(job_id, time.monotonic() + _checked(seconds))
        # Under the lock, so that the watch does not end between these two steps.
        with self._waiting.lock:
            self._waiting.add(waiter)
            if self._watch is None or self._watch.ended:
                self._watch = EndWatch(self._store, self._waiting, self._complaints)
                self._watch.start()
            watch = self._watch
        # Entered first, asked for and looked at afterwards: an end between the two is not missed.
        self._store.wakeups.ended_jobs.ask([job_id])
        watch.ring()
        return waiter

    def leave(self, waiter: Waiter) -> None:
        """It does not wait any more."""
        self._waiting.remove(waiter)

    def close(self) -> None:
        """Answer everybody with the job as it is now, and end the thread."""
        watch = self._watch
        if self._process == os.getpid() and watch is not None and not watch.ended:
            watch.close()

    def _begin_anew(self) -> None:
        self._process = os.getpid()
        self._waiting = WaitingList()
        self._watch = None


def _checked(seconds: object) -> float:
    """A deadline that never comes would keep its waiter for ever; one that has passed is fine."""
    if not isinstance(seconds, int | float) or isinstance(seconds, bool) or math.isnan(seconds):
        raise OptionError(f"wait takes a number of seconds, not {seconds!r}")
    return float(seconds)
