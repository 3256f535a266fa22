"""Single jobs of many callers, written together.

Nobody waits for company: who finds a writer free writes at once, and who comes while all are busy
goes along with the next. A caller that has written its batch hands over and returns. The main
thread writes for itself alone: only there a Ctrl-C could end a write that others wait for.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest
from weakref import WeakSet

from tenure.core.errors import CommitUnknown
from tenure.core.job import NewJob
from tenure.stores.contract import Added
from tenure.stores.sql.write.group_member import Answer, InCoroutine, InThread, Ticket, result

MOST = 500
Write = Callable[[Sequence[NewJob]], Sequence[Answer]]


class Gather:
    """Callers of one process. `write` answers for each job and raises nothing of its own."""

    def __init__(self, write: Write, writers: int) -> None:
        self._write = write
        self._writers = writers
        self.reset()
        _gathers.add(self)

    def reset(self) -> None:
        """As new: in a forked child none of the parent's callers is there."""
        self._lock = threading.Lock()
        self._free = self._writers
        self._waiting: list[Ticket] = []
        self._pool: ThreadPoolExecutor | None = None

    def add(self, job: NewJob) -> Added:
        """Durable when this returns."""
        if threading.current_thread() is threading.main_thread():
            return result(self._write([job])[0])
        if not self._begin():
            return self._follow(job)
        try:
            return result(self._write([job])[0])
        finally:
            self._hand_over()

    async def add_async(self, job: NewJob) -> Added:
        """The same; no coroutine needs a thread of its own."""
        ticket = InCoroutine(job)
        if self._enter(ticket):
            self._lead_elsewhere(ticket)
        await ticket.rung
        return result(ticket.answer)

    def _begin(self) -> bool:
        """Whether a writer is free, and is ours now. Then nobody waits."""
        with self._lock:
            self._free -= (found := self._free > 0)
            return found

    def _follow(self, job: NewJob) -> Added:
        """Along with others: somebody writes for us, or it becomes our turn to write for them."""
        ticket = InThread(job)
        try:
            if not self._enter(ticket):
                ticket.wait()
            if ticket.leads:
                self._lead(ticket)
        except BaseException:
            self._abandon(ticket)
            raise
        return result(ticket.answer)

    def _enter(self, ticket: Ticket) -> bool:
        """Whether it is this one's turn at once."""
        with self._lock:
            if self._free:
                self._free -= 1
                ticket.leads = True
            else:
                self._waiting.append(ticket)
            return ticket.leads

    def _lead(self, leader: Ticket) -> None:
        """Write what waits, tell everybody, hand over."""
        batch, answers = [leader], list[Answer]()
        try:
            leader.leads = False
            with self._lock:
                batch += self._waiting[: MOST - 1]
                del self._waiting[: MOST - 1]
            answers += self._write([ticket.job for ticket in batch])
        finally:
            _tell(batch, answers)
            self._hand_over()

    def _hand_over(self) -> None:
        """The next thread that waits goes on; coroutines alone need one of ours."""
        with self._lock:
            threads = (ticket for ticket in self._waiting if isinstance(ticket, InThread))
            leader = next(threads, None) or next(iter(self._waiting), None)
            if leader is None:
                self._free += 1
                return
            self._waiting.remove(leader)
            leader.leads = True
        if isinstance(leader, InThread):
            leader.ring()
        else:
            self._lead_elsewhere(leader)

    def _abandon(self, ticket: Ticket) -> None:
        """A caller was stopped: its turn, if it had it and has not used it, is the next one's."""
        with self._lock:
            if ticket in self._waiting:
                self._waiting.remove(ticket)
        if ticket.leads:
            self._hand_over()

    def _lead_elsewhere(self, leader: Ticket) -> None:
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self._writers, "tenure-enqueue")
        self._pool.submit(self._lead, leader)


def _tell(batch: Sequence[Ticket], answers: Sequence[Answer]) -> None:
    """Each its own; where the writer was stopped nobody knows."""
    stopped = "the thread that was writing this job was stopped: it may have been added"
    for ticket, answer in zip_longest(batch, answers):
        ticket.answer = answer or CommitUnknown(stopped)
        ticket.ring()


_gathers: WeakSet[Gather] = WeakSet()


def _reset_all() -> None:
    for gather in list(_gathers):
        gather.reset()


os.register_at_fork(after_in_child=_reset_all)
