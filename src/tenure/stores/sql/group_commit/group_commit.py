"""Group commit: single jobs that many callers add at the same time share one statement.

Nobody waits for company. A caller that finds a writer free writes at once; callers that come while
all writers are busy join the next batch. A caller that has written its batch hands over and
returns. The main thread writes only for itself, because a Ctrl-C there could end a write that
others wait for.
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
from tenure.stores.sql.group_commit.group_member import (
    Answer,
    GroupMember,
    InCoroutine,
    InThread,
    result,
)

# Jobs in one statement; callers beyond that form the next batch.
MOST = 500
Write = Callable[[Sequence[NewJob]], Sequence[Answer]]


class GroupCommit:
    """Shared by all callers of a process. `write` answers for each job and never raises."""

    def __init__(self, write: Write, writers: int) -> None:
        self._write = write
        self._writers = writers
        self.reset()
        _all.add(self)

    def reset(self) -> None:
        """Start anew: a forked child has none of the parent's callers."""
        self._lock = threading.Lock()
        self._free = self._writers
        self._waiting: list[GroupMember] = []
        self._pool: ThreadPoolExecutor | None = None

    def add(self, job: NewJob) -> Added:
        """Add a job; it is durable when this returns."""
        if threading.current_thread() is threading.main_thread():
            return self._write_alone(job)
        if not self._begin():
            return self._follow(job)
        try:
            return self._write_alone(job)
        finally:
            self._hand_over()

    async def add_async(self, job: NewJob) -> Added:
        """The same from a coroutine, which needs no thread of its own."""
        member = InCoroutine(job)
        if self._enter(member):
            self._lead_elsewhere(member)
        await member.rung
        return result(member.answer)

    def _write_alone(self, job: NewJob) -> Added:
        [answer] = self._write([job])
        return result(answer)

    def _begin(self) -> bool:
        """Take a free writer, if there is one. Then nobody waits."""
        with self._lock:
            self._free -= (found := self._free > 0)
            return found

    def _follow(self, job: NewJob) -> Added:
        """Join the next batch: somebody writes for us, or it becomes our turn to write."""
        member = InThread(job)
        try:
            if not self._enter(member):
                member.wait()
            if member.leads:
                self._lead(member)
        except BaseException:
            self._abandon(member)
            raise
        return result(member.answer)

    def _enter(self, member: GroupMember) -> bool:
        """Whether it is this caller's turn at once."""
        with self._lock:
            if self._free:
                self._free -= 1
                member.leads = True
            else:
                self._waiting.append(member)
            return member.leads

    def _lead(self, leader: GroupMember) -> None:
        """Write for all who wait, give each its answer, hand over."""
        batch, answers = [leader], list[Answer]()
        try:
            leader.leads = False  # used up: an interrupt from here on hands over only once
            with self._lock:
                batch += self._waiting[: MOST - 1]
                del self._waiting[: MOST - 1]
            answers += self._write([member.job for member in batch])
        finally:
            _tell(batch, answers)
            self._hand_over()

    def _hand_over(self) -> None:
        """Wake the next leader. Threads first: coroutines alone need a thread of ours."""
        with self._lock:
            threads = (member for member in self._waiting if isinstance(member, InThread))
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

    def _abandon(self, member: GroupMember) -> None:
        """A caller was interrupted. If it was its turn to write, the next caller gets the turn."""
        with self._lock:
            if member in self._waiting:
                self._waiting.remove(member)
        if member.leads:
            self._hand_over()

    def _lead_elsewhere(self, leader: GroupMember) -> None:
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self._writers, "tenure-enqueue")
        self._pool.submit(self._lead, leader)


def _tell(batch: Sequence[GroupMember], answers: Sequence[Answer]) -> None:
    """Give each its own answer. Without one the writer was stopped: nobody knows what happened."""
    stopped = "the thread that was writing this job was stopped: it may have been added"
    for member, answer in zip_longest(batch, answers):
        member.answer = answer or CommitUnknown(stopped)
        member.ring()


_all: WeakSet[GroupCommit] = WeakSet()


def _reset_all() -> None:
    for group_commit in list(_all):
        group_commit.reset()


os.register_at_fork(after_in_child=_reset_all)
