"""Everybody in this process who waits for a job to end: one thread and one look for all.

A waiter is entered before the first look, so that no end between the two is missed. On PostgreSQL
workers tell of the end; elsewhere, and in case a word was lost, the looks come again, less and
less often. Nobody holds a connection while waiting.
"""

from __future__ import annotations

import asyncio
import math
import os
import threading
import time
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field

from tenure.core.errors import JobNotFound, OptionError, StoreError
from tenure.core.job import Job
from tenure.core.signals import Signals
from tenure.stores.contract import Store
from tenure.wakeups.due_jobs import Complaints
from tenure.wakeups.ended_jobs import EVERY_JOB

FIRST_PAUSE = 0.01
LONGEST_PAUSE = 0.5
TOGETHER_SECONDS = 0.02
TOLD_PAUSE = 2.0
ASK_AGAIN = 10.0
LISTEN_AGAIN = 5.0
AT_ONCE = 1_000


@dataclass(eq=False, slots=True)
class Waiter:
    """One who waits: until when, and when the next look is due."""

    job_id: str
    deadline: float
    answer: Future[Job] = field(default_factory=Future)
    due: float = 0.0
    pause: float = FIRST_PAUSE

    def take(self, job: Job | None, now: float, *, told: bool) -> bool:
        """Whether the look was the last one that it needs."""
        if job is None:
            self._end(lambda: self.answer.set_exception(JobNotFound(self.job_id)))
        elif job.state.final or now >= self.deadline:
            self._end(lambda: self.answer.set_result(job))
        else:
            self.pause = TOLD_PAUSE if told else min(self.pause * 2, LONGEST_PAUSE)
            self.due = min(now + self.pause, self.deadline)
        return self.answer.done()

    def fail(self, error: Exception) -> None:
        """No look was possible until its time was over."""
        self._end(lambda: self.answer.set_exception(error))

    def _end(self, say: Callable[[], None]) -> None:
        if self.answer.set_running_or_notify_cancel():
            say()


class Waits:
    """The waiters of one process and store. Starts at the first one, ends with `close`."""

    _ask_again: bool

    def __init__(self, store: Store, signals: Signals) -> None:
        self._store = store
        self._complaints = Complaints(signals)
        self._begin_anew()

    def __len__(self) -> int:
        return sum(map(len, list(self._waiting.values())))

    def wait(self, job_id: str, seconds: float) -> Job:
        """The job when it is final, or as it is when the time is over."""
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
        """From now on its end is not missed. `leave` it, whatever happens."""
        if self._process != os.getpid():  # a fork: the thread is the parent's
            self._begin_anew()
        waiter = Waiter(job_id, time.monotonic() + _checked(seconds))
        with self._lock:
            self._waiting.setdefault(job_id, []).append(waiter)
            if self._thread is None:
                self._start()
        self._store.wakeups.ended_jobs.ask([job_id])
        self._ring()
        return waiter

    def leave(self, waiter: Waiter) -> None:
        """It does not wait any more."""
        with self._lock:
            others = self._waiting.get(waiter.job_id, [])
            if waiter in others:
                others.remove(waiter)
            if not others:
                self._waiting.pop(waiter.job_id, None)

    def close(self) -> None:
        """Answer everybody with the job as it is now, and end."""
        thread = self._thread
        if self._process != os.getpid() or thread is None:
            return
        self._closing = True
        self._ring()
        if thread is not threading.current_thread():
            thread.join()

    def heard(self, ids: Collection[str]) -> None:
        """These have ended, somebody says; or a worker has come that has not been asked yet."""
        with self._lock:
            self._ask_again = self._ask_again or EVERY_JOB in ids
            found = list(self._waiting) if EVERY_JOB in ids else self._waiting.keys() & set(ids)
            for waiter in self._of(found):
                waiter.due = 0.0
        if found:
            self._ring()

    def _begin_anew(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._waiting: dict[str, list[Waiter]] = {}
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._bell = asyncio.Event()
        self._told = False
        self._ask_again = False
        self._closing = False

    def _start(self) -> None:
        self._bell, self._closing = asyncio.Event(), False
        self._thread = threading.Thread(target=self._run, name="tenure-waiting", daemon=True)
        self._thread.start()

    def _ring(self) -> None:
        loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):  # it has ended
                loop.call_soon_threadsafe(self._bell.set)

    def _run(self) -> None:
        unsubscribe = self._store.wakeups.ended_jobs.subscribe(self.heard)
        try:
            asyncio.run(self._keep_looking())
        except Exception as error:
            self._give_up(error)
            raise
        finally:
            unsubscribe()

    def _give_up(self, error: Exception) -> None:
        """Nobody may wait for ever because of a mistake of ours."""
        with self._lock:
            waiters, self._waiting = self._of(self._waiting), {}
            self._thread = self._loop = None
        for waiter in waiters:
            waiter.fail(error)

    async def _keep_looking(self) -> None:
        self._loop = asyncio.get_running_loop()
        listening = asyncio.ensure_future(self._keep_listening())
        asked_at = time.monotonic()
        while not (self._closing and self._end()):
            self._bell.clear()
            self._look()
            now = time.monotonic()
            if self._ask_again or now - asked_at >= ASK_AGAIN:
                asked_at, self._ask_again = now, False
                self._store.wakeups.ended_jobs.ask(list(self._waiting))
            with suppress(TimeoutError):
                async with asyncio.timeout(self._rest(now)):
                    await self._bell.wait()
        listening.cancel()

    def _end(self) -> bool:
        """Whether nobody came while the last were answered."""
        with self._lock:
            if self._waiting:
                now = time.monotonic()
                for waiter in self._of(self._waiting):
                    waiter.deadline, waiter.due = min(waiter.deadline, now), 0.0
                return False
            self._thread = self._loop = None
            return True

    def _rest(self, now: float) -> float | None:
        """Until the next look; those that are due soon after one go along with it."""
        if self._closing:
            return 0.0
        with self._lock:
            dues = [waiter.due for waiter in self._of(self._waiting)]
        return max(TOGETHER_SECONDS / 2, min(dues) - now) if dues else None

    def _look(self) -> None:
        """One statement for everybody whose look is due."""
        now = time.monotonic()
        with self._lock:
            due = [one for one in self._of(self._waiting) if one.due <= now + TOGETHER_SECONDS]
        ids = list({waiter.job_id for waiter in due})
        for start in range(0, len(ids), AT_ONCE):
            part = set(ids[start : start + AT_ONCE])
            try:
                found = self._store.jobs.look(list(part))
            except Exception as error:
                self._fail(due, error)
                return
            self._hand_out([one for one in due if one.job_id in part], found)

    def _hand_out(self, waiters: Iterable[Waiter], found: dict[str, Job]) -> None:
        now = time.monotonic()
        for waiter in waiters:
            if waiter.take(found.get(waiter.job_id), now, told=self._told):
                self.leave(waiter)

    def _fail(self, waiters: Iterable[Waiter], error: Exception) -> None:
        """The database is away: it may be back before their time is over."""
        now = time.monotonic()
        for waiter in waiters:
            waiter.due = min(now + LONGEST_PAUSE, max(waiter.deadline, now + FIRST_PAUSE))
            if now >= waiter.deadline or not isinstance(error, StoreError):
                waiter.fail(error)
                self.leave(waiter)

    def _of(self, ids: Iterable[str]) -> list[Waiter]:
        return [waiter for job_id in ids for waiter in self._waiting[job_id]]

    async def _keep_listening(self) -> None:
        listener = self._store.wakeups.ended_jobs.listener

        def begun() -> None:
            self._told = True
            self.heard([EVERY_JOB])  # what was said meanwhile, nobody repeats

        while listener is not None:
            try:
                await listener.listen(self.heard, begun)
            except Exception as error:
                self._complaints.make(error, "wait")
            finally:
                self._told = False
            await asyncio.sleep(LISTEN_AGAIN)


def _checked(seconds: object) -> float:
    """A deadline that never comes would keep its waiter for ever; one that is over is fine."""
    if not isinstance(seconds, int | float) or isinstance(seconds, bool) or math.isnan(seconds):
        raise OptionError(f"wait takes a number of seconds, not {seconds!r}")
    return float(seconds)
