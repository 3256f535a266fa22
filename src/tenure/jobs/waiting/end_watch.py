"""The thread that looks for all waiters of a process, and listens to workers that tell of ends.

On PostgreSQL workers tell of the end. Elsewhere, and in case a message was lost, the looks are
repeated, less and less often. No connection is held between two looks.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Collection, Iterable
from contextlib import suppress

from tenure.core.errors import StoreError
from tenure.core.job import Job
from tenure.jobs.waiting.waiting_list import Waiter, WaitingList
from tenure.stores.contract import Store
from tenure.wakeups.due_jobs import Complaints
from tenure.wakeups.ended_jobs import EVERY_JOB

# Workers forget a question after 30 s: asking is repeated well before that.
ASK_AGAIN = 10.0
LISTEN_AGAIN = 5.0
# Ids in one statement.
AT_ONCE = 1_000


class EndWatch:
    """One thread with an event loop. It is started once and runs until `close`."""

    def __init__(self, store: Store, waiting: WaitingList, complaints: Complaints) -> None:
        self._store = store
        self._waiting = waiting
        self._complaints = complaints
        self._thread = threading.Thread(target=self._run, name="tenure-waiting", daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._bell = asyncio.Event()
        self._ask_again = False
        self._closing = False
        self.told = False
        """Whether workers of other processes tell us of ends now."""
        self.ended = False
        """Set under the lock of the list: whoever comes later starts another watch."""

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def ring(self) -> None:
        """Look again now, if something is due."""
        loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):  # it has ended
                loop.call_soon_threadsafe(self._bell.set)

    def heard(self, ids: Collection[str]) -> None:
        """These jobs have ended, somebody says; or a worker has come that has not been asked."""
        if EVERY_JOB in ids:
            self._ask_again = True
        if self._waiting.hasten(ids):
            self.ring()

    def close(self) -> None:
        """Answer everybody with the job as it is now, and end."""
        self._closing = True
        self.ring()
        if self._thread is not threading.current_thread():
            self._thread.join()

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
        """A mistake of ours must not let anybody wait for ever."""
        with self._waiting.lock:
            self.ended = True
            waiters = self._waiting.remove_all()
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
                self._store.wakeups.ended_jobs.ask(self._waiting.ids)
            pause = 0.0 if self._closing else self._waiting.seconds_to_next(now)
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._bell.wait()
        listening.cancel()

    def _end(self) -> bool:
        """End unless somebody came while the last were answered."""
        # One step under the lock: whoever is added later must see that this watch has ended.
        with self._waiting.lock:
            self.ended = not self._waiting.cut_short()
            return self.ended

    def _look(self) -> None:
        """One statement for everybody whose look is due."""
        due = self._waiting.due(time.monotonic())
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
            if waiter.take(found.get(waiter.job_id), now, told=self.told):
                self._waiting.remove(waiter)

    def _fail(self, waiters: Iterable[Waiter], error: Exception) -> None:
        """The database is away: it may be back before their deadlines."""
        now = time.monotonic()
        for waiter in waiters:
            waiter.put_off(now)
            if now >= waiter.deadline or not isinstance(error, StoreError):
                waiter.fail(error)
                self._waiting.remove(waiter)

    async def _keep_listening(self) -> None:
        listener = self._store.wakeups.ended_jobs.listener
        while listener is not None:
            try:
                await listener.listen(self.heard, self._begun)
            except Exception as error:
                self._complaints.make(error, "wait")
            finally:
                self.told = False
            await asyncio.sleep(LISTEN_AGAIN)

    def _begun(self) -> None:
        self.told = True
        # What was told before we listened is not repeated: look at every job once.
        self.heard([EVERY_JOB])
