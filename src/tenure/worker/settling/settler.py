"""Writes settlements in batches: everything that ended while the last batch was written."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, cast

from tenure.core.errors import StoreBusy, StoreUnavailable
from tenure.core.settlement import Settlement
from tenure.core.signals import Signals
from tenure.stores.contract import Claim, ClaimRequest, Report, Store, Written
from tenure.worker.changes import Changes
from tenure.worker.settling.progress_reports import LastReports
from tenure.worker.settling.settle_again import SettleAgain
from tenure.worker.settling.settled_runs import SettledRuns

BATCH = 1_000


class Settler:
    """Needs no timer: at low load nothing waits, at high load the batches are large.

    On a database with one writer the settlements go `along` with the next claim, in one
    transaction. `settle_again.py` takes care of whatever cannot be written at once.
    """

    def __init__(
        self,
        store: Store,
        signals: Signals,
        in_thread: Callable[..., Awaitable[Any]],
        settled: SettledRuns,
        changes: Changes,
    ) -> None:
        self._jobs = store.jobs
        self._signals = signals
        self._in_thread = in_thread
        self._tell_settled = settled.tell
        self._tell_change = changes.tell
        self._reports = LastReports(store.jobs, signals, in_thread)
        self._again = SettleAgain(
            store.jobs, signals, in_thread, self._reports, settled, changes.tell
        )
        self.with_claims = store.fused
        self._carrying = False
        self._waiting: list[Settlement] = []
        self._writing: asyncio.Task[None] | None = None
        self._batch_written = asyncio.Event()

    @property
    def idle(self) -> bool:
        """Whether everything that ended is written."""
        return self._writing is None and not self._carrying and not self.unwritten

    @property
    def backlog(self) -> int:
        """Settlements that wait for the next batch."""
        return len(self._waiting)

    @property
    def unwritten(self) -> int:
        """These, and the ones that were set aside."""
        return len(self._waiting) + len(self._again)

    def put(self, settlement: Settlement, report: Report | None = None) -> None:
        """Write it with the next batch, after the run's last report."""
        self._waiting.append(settlement)
        if report is not None:
            self._reports.add(report)
        if self._writing is None and not self.with_claims:
            self._writing = asyncio.get_running_loop().create_task(self._write())

    async def along(self, request: ClaimRequest | None) -> Claim:
        """Write what waits together with the next claim, in one transaction."""
        batch, reports = self._take(), self._reports.take()
        self._carrying = bool(batch)
        try:
            written, claim = await self._in_thread(self._jobs.exchange, batch, reports, request)
            await self._wrote(batch, written)
        except Exception as error:
            self._reports.put_back(reports)
            self._again.set_aside_all(batch, error)
            if not await self._claim_anyway(error, batch, reports):
                raise
            # What cannot be written must not keep anything else from being claimed.
            _, claim = await self._in_thread(self._jobs.exchange, [], [], request)
        finally:
            self._carrying = False
            if batch:
                self._told()
        return cast(Claim, claim)

    def write_out(self) -> bool:
        """Write what waits without a claim; True if nothing is left but what was set aside."""
        if self._waiting and self._writing is None:
            self._writing = asyncio.get_running_loop().create_task(self._write())
        return self._writing is None and not self._carrying and not self._waiting

    async def written_out(self) -> None:
        """Wait until everything is written but what was set aside."""
        while not self.write_out():
            self._batch_written.clear()
            await self._batch_written.wait()

    async def flush(self, seconds: float) -> None:
        """Write everything at the end, when no claim follows; give up after this time."""
        self.with_claims = False
        self.write_out()
        deadline = time.monotonic() + seconds
        while tasks := {task for task in (self._writing, self._again.task) if task is not None}:
            left = deadline - time.monotonic()
            if left <= 0 or not (await asyncio.wait(tasks, timeout=left))[0]:
                return

    def _take(self) -> list[Settlement]:
        batch, self._waiting = self._waiting[:BATCH], self._waiting[BATCH:]
        return batch

    async def _write(self) -> None:
        try:
            while batch := self._take():
                try:
                    await self._reports.write()
                    written, _ = await self._in_thread(self._jobs.exchange, batch, [], None)
                except Exception as error:
                    await self._again.in_parts(batch, error)
                else:
                    await self._wrote(batch, written)
        finally:
            self._writing = None
            self._told()

    async def _wrote(self, batch: list[Settlement], written: Written) -> None:
        if written.locked or self._again.concerned:
            await self._again.wrote(batch, written)
        elif batch:
            self._tell_settled(batch, written.applied)

    async def _claim_anyway(
        self, error: Exception, batch: list[Settlement], reports: list[Report]
    ) -> bool:
        """Whether to claim alone after this error: if it may have been due to what was written."""
        if isinstance(error, StoreUnavailable):
            return bool(batch) and isinstance(error, StoreBusy)
        if not batch and not reports:
            return False
        self._signals.emit("settle.failed", error=error, jobs=len(batch))
        await self._reports.write()  # drops the report that was the cause, if it was one
        return True

    def _told(self) -> None:
        """Something was written: there may be room, and a lone run may wait for it."""
        self._batch_written.set()
        self._tell_change()
