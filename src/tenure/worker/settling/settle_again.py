"""Settlements that the database did not take: tried in smaller parts, one by one, or later."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from tenure.core.errors import CommitUnknown, ContentRefused, StoreUnavailable
from tenure.core.failure import Failure
from tenure.core.job import State
from tenure.core.settlement import Settlement
from tenure.core.signals import Signals
from tenure.stores.contract import JobStore, Written
from tenure.worker.settling.progress_reports import LastReports
from tenure.worker.settling.settled_runs import SettledRuns
from tenure.worker.settling.unknown_commits import UnknownCommits
from tenure.worker.settling.unwritten import UnwrittenSettlements

FIRST_PAUSE = 0.05
LONGEST_PAUSE = 5.0
# A lock may be gone any moment; trouble of the database lasts longer.
LONGEST_LOCKED = 0.5


class SettleAgain:
    """What is locked is set aside and tried again; the others go on. What the database cannot write
    now is tried until it can, or until the lease is lost. Only a row that it refuses for its
    content ends otherwise than its handler said.
    """

    def __init__(
        self,
        jobs: JobStore,
        signals: Signals,
        in_thread: Callable[..., Awaitable[Any]],
        reports: LastReports,
        settled: SettledRuns,
        tell_change: Callable[[], None],
    ) -> None:
        self._jobs = jobs
        self._signals = signals
        self._in_thread = in_thread
        self._reports = reports
        self._settled = settled
        self._tell_change = tell_change
        self._unwritten = UnwrittenSettlements()
        self._unknown = UnknownCommits(jobs)
        self._put_aside = asyncio.Event()
        self.task: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        """How many wait for another try."""
        return len(self._unwritten)

    @property
    def concerned(self) -> bool:
        """Whether the next batch may hold any that were tried before."""
        return bool(self._unwritten) or bool(self._unknown)

    def set_aside_all(self, batch: list[Settlement], error: Exception) -> None:
        """The whole batch is to be tried apart from the claims."""
        if isinstance(error, CommitUnknown):
            self._unknown.add(batch)
        self._set_aside(batch)

    async def in_parts(
        self, batch: list[Settlement], error: Exception | None = None, *, careful: bool = False
    ) -> None:
        """Write a batch that failed with this error, in smaller and smaller parts: one bad row
        keeps no other from ending. The heartbeat keeps the leases meanwhile.
        """
        size, pause = len(batch), FIRST_PAUSE
        while batch:
            part, rest = batch[:size], batch[size:]
            if error is None:
                error = await self._try(part, careful=careful)
            if error is None:
                batch, size, pause = rest, size * 2, FIRST_PAUSE
                continue
            self._complain(error, part)
            if len(part) > 1:
                size = len(part) // 2
            else:
                batch = self._instead_of(part[0], error) + rest
            if isinstance(error, StoreUnavailable):
                await asyncio.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE)
            error = None

    async def wrote(self, part: list[Settlement], written: Written) -> None:
        """What is locked is tried again; of the others we know how they ended."""
        applied, locked = written.applied, written.locked
        over = [item for item in part if item.lease.job_id not in locked] if locked else part
        if self._unknown:
            try:
                applied |= await self._in_thread(self._unknown.found_settled, over, applied)
            except Exception as error:
                self._signals.emit("store.unavailable", error=error, step="settle")
                self._set_aside(part)  # what is written already is found by the next look
                return
            self._unknown.drop(over)
        self._unwritten.drop(over)
        self._set_aside([item for item in part if item.lease.job_id in locked])
        if over:
            self._settled.tell(over, applied)

    async def _try(self, part: list[Settlement], *, careful: bool) -> Exception | None:
        try:
            await self._reports.write()
            written, _ = await self._in_thread(self._jobs.exchange, part, [], None, careful=careful)
        except Exception as error:
            return error
        await self.wrote(part, written)
        return None

    def _complain(self, error: Exception, part: list[Settlement]) -> None:
        self._unknown.add(part)  # some of it may have been written
        if isinstance(error, StoreUnavailable):
            self._signals.emit("store.unavailable", error=error, step="settle")
        else:
            self._signals.emit("settle.failed", error=error, jobs=len(part))

    def _instead_of(self, item: Settlement, error: Exception) -> list[Settlement]:
        """What to write at once instead of one that fails by itself, if anything."""
        if not isinstance(error, ContentRefused):
            self._set_aside([item], LONGEST_PAUSE)
            return []
        if item.entry == "unsettled":  # even that is refused: its lease runs out, and history tells
            self._unwritten.drop([item])
            self._unknown.drop([item])
            self._settled.forget(item)
            return []
        failure = Failure.of(error.__cause__ or error)
        refused = item._replace(
            state=State.FAILED, entry="unsettled", result=None, delay_seconds=0.0,
            reason="settle_failed", failure=failure,
        )  # fmt: skip
        return [refused]

    def _set_aside(self, items: list[Settlement], longest: float = LONGEST_LOCKED) -> None:
        if not items:
            return
        loop = asyncio.get_running_loop()
        self._unwritten.put(items, loop.time(), longest)
        self._put_aside.set()
        if self.task is None:
            self.task = loop.create_task(self._retry())

    async def _retry(self) -> None:
        """Try what was set aside, each when its pause is over."""
        loop = asyncio.get_running_loop()
        try:
            while self._unwritten:
                if due := self._unwritten.due(loop.time()):
                    await self.in_parts(due, careful=True)
                    self._tell_change()
                    continue
                self._put_aside.clear()
                timer = loop.call_later(self._unwritten.next_in(loop.time()), self._put_aside.set)
                await self._put_aside.wait()
                timer.cancel()
        finally:
            self.task = None
            self._tell_change()
