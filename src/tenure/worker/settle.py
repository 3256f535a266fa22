"""Writes the endings of runs in batches: whatever is finished when the last write has returned."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast

from tenure.core.errors import CommitUnknown, StoreUnavailable
from tenure.core.failure import Failure
from tenure.core.job import State
from tenure.core.settlement import Settled, Settlement
from tenure.core.signals import Signals
from tenure.stores.contract import Claim, ClaimRequest, JobStore, Report
from tenure.worker.news import write_news
from tenure.worker.run import Run

BATCH = 1_000
FIRST_PAUSE = 0.05
LONGEST_PAUSE = 5.0
QUEUED = State.QUEUED
InThread = Callable[..., Awaitable[Any]]


class Settler:
    """Self-clocking: no timer, no added delay at low load, large batches at high load."""

    def __init__(self, jobs: JobStore, signals: Signals, in_thread: InThread) -> None:
        self._jobs = jobs
        self._signals = signals
        self._in_thread = in_thread
        self.settled: Callable[[str, int], Run | None] = lambda job_id, fence: None
        self.quiet: Callable[[], None] = lambda: None
        self.ended: Callable[[list[str]], None] = lambda ids: None
        self.carried = False
        self._carrying = False
        self._unknown = False
        self._waiting: list[Settlement] = []
        self._news: list[Report] = []
        self._writing: asyncio.Task[None] | None = None

    @property
    def idle(self) -> bool:
        """Everything that ended is written."""
        return self._writing is None and not self._waiting and not self._carrying

    @property
    def backlog(self) -> int:
        """Endings that wait to be written."""
        return len(self._waiting)

    def put(self, settlement: Settlement, news: Report | None = None) -> None:
        """To be written with the next batch; the last news before the end, while it may speak."""
        self._waiting.append(settlement)
        if news is not None:
            self._news.append(news)
        if self._writing is None and not self.carried:
            self._writing = asyncio.get_running_loop().create_task(self._write())

    async def along(self, request: ClaimRequest | None) -> Claim:
        """Write what waits together with the next claim, in one transaction."""
        batch, self._waiting = self._waiting[:BATCH], self._waiting[BATCH:]
        news, self._news = self._news, []
        self._carrying = True
        try:
            applied, claim = await self._in_thread(self._jobs.exchange, batch, news, request)
            if self._unknown:
                applied |= await self._in_thread(self._already, batch, applied)
        except StoreUnavailable as error:
            self._unknown = self._unknown or isinstance(error, CommitUnknown)
            self._waiting, self._news = batch + self._waiting, news + self._news
            raise
        except Exception as error:
            if not batch and not news:
                raise
            self._signals.emit("settle.failed", error=error, jobs=len(batch))
            self._news = news + self._news
            await self._settle(batch)  # alone: whatever was wrong is found there
            return Claim()
        finally:
            self._carrying = False
        self._unknown = False
        if batch:
            self._tell(batch, applied)
            self.quiet()
        return cast(Claim, claim)

    async def flush(self, seconds: float) -> None:
        """Wait until all is written, but not for ever; from now on nobody carries it."""
        self.carried = False
        if self._waiting and self._writing is None:
            self._writing = asyncio.get_running_loop().create_task(self._write())
        if self._writing is not None:
            await asyncio.wait({self._writing}, timeout=seconds)

    async def _write(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting[:BATCH], self._waiting[BATCH:]
                await self._settle(batch)
        finally:
            self._writing = None
            self.quiet()

    async def _settle(self, batch: list[Settlement]) -> None:
        """Again and again while the database is away: the heartbeat keeps the leases meanwhile."""
        pause, unknown = FIRST_PAUSE, False
        while True:
            try:
                await self._report()
                applied = await self._in_thread(self._jobs.settle, batch)
            except StoreUnavailable as error:
                unknown = unknown or isinstance(error, CommitUnknown)
                self._signals.emit("store.unavailable", error=error, step="settle")
                await asyncio.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE)
            except Exception as error:
                await self._apart(batch, error)
                return
            else:
                if unknown:
                    applied |= await self._in_thread(self._already, batch, applied)
                self._tell(batch, applied)
                return

    async def _report(self) -> None:
        if self._news:
            news, self._news = self._news, []
            try:
                await self._in_thread(write_news, self._jobs, self._signals, news)
            except StoreUnavailable:
                self._news = news + self._news
                raise

    async def _apart(self, batch: list[Settlement], error: Exception) -> None:
        """The database refuses the batch: one bad row must not keep the others from ending."""
        self._signals.emit("settle.failed", error=error, jobs=len(batch))
        if len(batch) > 1:
            for item in batch:
                await self._settle([item])
        elif batch[0].entry != "unsettled":
            failure = Failure.of(error)
            await self._settle(
                [
                    batch[0]._replace(
                        state=State.FAILED,
                        entry="unsettled",
                        result=None,
                        delay_seconds=0.0,
                        reason="settle_failed",
                        failure=failure,
                    )
                ]
            )
        else:
            self.settled(
                batch[0].lease.job_id, batch[0].lease.fence
            )  # its lease will run out, and history tells why

    def _already(self, batch: list[Settlement], applied: frozenset[str]) -> frozenset[str]:
        """A lost answer to COMMIT: what is settled under our fence was settled by us."""
        found = set()
        for item in batch:
            row = None if item.lease.job_id in applied else self._jobs.get(item.lease.job_id)
            if row is not None and row.fence == item.lease.fence and row.state is not State.RUNNING:
                found.add(row.id)
        return frozenset(found)

    def _tell(self, batch: list[Settlement], applied: frozenset[str]) -> None:
        self.ended([item.lease.job_id for item in batch if item.state is not QUEUED])
        heard = self._signals.heard("job.settled")
        counted = self._signals.heard("jobs.settled")
        written: list[Settled] = []
        for item in batch:
            run = self.settled(item.lease.job_id, item.lease.fence)
            if item.lease.job_id not in applied:
                job = None if run is None else run.claimed
                self._signals.emit("job.settle_refused", **_facts(item), job=job)
                continue
            if heard:
                self._signals.emit("job.settled", **_facts(item))
            if counted and run is not None:
                written.append(tuple.__new__(Settled, (run.claimed, item, run.seconds)))
        if written:
            self._signals.emit("jobs.settled", batch=written)


def _facts(item: Settlement) -> dict[str, Any]:
    return {
        "id": item.lease.job_id,
        "fence": item.lease.fence,
        "state": item.state,
        "entry": item.entry,
        "reason": item.reason,
        "delay_seconds": item.delay_seconds,
        "failure": item.failure,
    }
