"""Writes the endings of runs in batches: whatever is finished when the last write has returned."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, cast

from tenure.core.errors import CommitUnknown, ContentRefused, StoreBusy, StoreUnavailable
from tenure.core.failure import Failure
from tenure.core.job import State
from tenure.core.lease import Lease
from tenure.core.settlement import SettledRun, Settlement
from tenure.core.signals import Signals
from tenure.stores.contract import Claim, ClaimRequest, JobStore, Report, Written
from tenure.worker.running.run import Run
from tenure.worker.settling.progress_reports import write_news
from tenure.worker.settling.unwritten import Aside

BATCH = 1_000
FIRST_PAUSE = 0.05
LONGEST_PAUSE = 5.0
LONGEST_LOCKED = 0.5
QUEUED = State.QUEUED
InThread = Callable[..., Awaitable[Any]]


class Settler:
    """Self-clocking: no timer, no added delay at low load, large batches at high load.

    What somebody's transaction has locked is set aside and tried again; the others go on. What the
    database cannot write now is tried until it can, or until the lease is lost; only a row that it
    refuses for its content ends otherwise than its handler said.
    """

    def __init__(self, jobs: JobStore, signals: Signals, in_thread: InThread) -> None:
        self._jobs = jobs
        self._signals = signals
        self._in_thread = in_thread
        self.settled: Callable[[list[Settlement]], list[Run | None]] = lambda batch: (
            [None] * len(batch)
        )
        self.quiet: Callable[[], None] = lambda: None
        self.ended: Callable[[list[str]], None] = lambda ids: None
        self.requeued: Callable[[str, float], None] = lambda queue, seconds: None
        self.carried = False
        self._carrying = False
        self._waiting: list[Settlement] = []
        self._news: list[Report] = []
        self._writing: asyncio.Task[None] | None = None
        self._aside = Aside()
        self._retrying: asyncio.Task[None] | None = None
        self._put_aside = asyncio.Event()
        self._unsure: set[Lease] = set()

    @property
    def idle(self) -> bool:
        """Everything that ended is written."""
        return self._writing is None and not self._carrying and not self.unwritten

    @property
    def backlog(self) -> int:
        """Endings that wait for the next batch."""
        return len(self._waiting)

    @property
    def unwritten(self) -> int:
        """Those, and the ones that were set aside."""
        return len(self._waiting) + len(self._aside)

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
        self._carrying = bool(batch)
        try:
            written, claim = await self._in_thread(self._jobs.exchange, batch, news, request)
            await self._wrote(batch, written)
        except StoreUnavailable as error:
            self._news = news + self._news
            self._fell_through(batch, error)
            if not (batch and isinstance(error, StoreBusy)):
                raise
            return await self._claim_alone(request)
        except Exception as error:
            if not batch and not news:
                raise
            self._signals.emit("settle.failed", error=error, jobs=len(batch))
            self._news = news + self._news
            self._fell_through(batch, error)
            await self._report()  # whatever was wrong is found there, or when they are tried apart
            return await self._claim_alone(request)
        finally:
            self._carrying = False
        if batch:
            self.quiet()
        return cast(Claim, claim)

    async def _claim_alone(self, request: ClaimRequest | None) -> Claim:
        """What cannot be written must not keep anything else from being claimed."""
        _, claim = await self._in_thread(self._jobs.exchange, [], [], request)
        return cast(Claim, claim)

    def _fell_through(self, batch: list[Settlement], error: Exception) -> None:
        """The whole batch is to be tried apart from the claims."""
        if isinstance(error, CommitUnknown):
            self._unsure.update(item.lease for item in batch)
        self._set_aside(batch)

    def write_out(self) -> bool:
        """Write what waits without a claim; whether all is written but for what was set aside."""
        if self._waiting and self._writing is None:
            self._writing = asyncio.get_running_loop().create_task(self._write())
        return self._writing is None and not self._carrying and not self._waiting

    async def flush(self, seconds: float) -> None:
        """Wait until all is written, but not for ever; from now on nobody carries it."""
        self.carried = False
        self.write_out()
        deadline = time.monotonic() + seconds
        while tasks := {task for task in (self._writing, self._retrying) if task is not None}:
            left = deadline - time.monotonic()
            if left <= 0 or not (await asyncio.wait(tasks, timeout=left))[0]:
                return

    async def _write(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting[:BATCH], self._waiting[BATCH:]
                await self._settle(batch)
        finally:
            self._writing = None
            self.quiet()

    def _set_aside(self, items: list[Settlement], longest: float = LONGEST_LOCKED) -> None:
        if not items:
            return
        loop = asyncio.get_running_loop()
        self._aside.put(items, loop.time(), longest)
        self._put_aside.set()
        if self._retrying is None:
            self._retrying = loop.create_task(self._retry())

    async def _retry(self) -> None:
        """What was set aside, whenever its time has come."""
        loop = asyncio.get_running_loop()
        try:
            while self._aside:
                if due := self._aside.due(loop.time()):
                    await self._settle(due, careful=True)
                    self.quiet()
                    continue
                self._put_aside.clear()
                timer = loop.call_later(self._aside.next_in(loop.time()), self._put_aside.set)
                await self._put_aside.wait()
                timer.cancel()
        finally:
            self._retrying = None
            self.quiet()

    async def _settle(self, batch: list[Settlement], *, careful: bool = False) -> None:
        """In smaller and smaller parts where the database does not take them: one bad row keeps no
        other from ending. The heartbeat keeps the leases meanwhile.
        """
        size, pause = len(batch), FIRST_PAUSE
        while batch:
            part, rest = batch[:size], batch[size:]
            try:
                await self._report()
                written, _ = await self._in_thread(
                    self._jobs.exchange, part, [], None, careful=careful
                )
            except Exception as error:
                self._complain(error, part)
                if len(part) > 1:
                    size = len(part) // 2
                else:
                    batch = self._alone(part[0], error) + rest
                if isinstance(error, StoreUnavailable):
                    await asyncio.sleep(pause)
                    pause = min(pause * 2, LONGEST_PAUSE)
            else:
                await self._wrote(part, written)
                batch, size, pause = rest, size * 2, FIRST_PAUSE

    def _complain(self, error: Exception, part: list[Settlement]) -> None:
        self._unsure.update(item.lease for item in part)  # some of it may have been written
        if isinstance(error, StoreUnavailable):
            self._signals.emit("store.unavailable", error=error, step="settle")
        else:
            self._signals.emit("settle.failed", error=error, jobs=len(part))

    def _alone(self, item: Settlement, error: Exception) -> list[Settlement]:
        """One that fails by itself: what is to be written in its place at once, if anything."""
        if not isinstance(error, ContentRefused):
            self._set_aside([item], LONGEST_PAUSE)
            return []
        if item.entry == "unsettled":  # its lease will run out, and history tells why
            self._aside.drop([item])
            self._unsure.discard(item.lease)
            self.settled([item])
            return []
        failure = Failure.of(error.__cause__ or error)
        refused = item._replace(
            state=State.FAILED, entry="unsettled", result=None, delay_seconds=0.0,
            reason="settle_failed", failure=failure,
        )  # fmt: skip
        return [refused]

    async def _wrote(self, part: list[Settlement], written: Written) -> None:
        """What is locked is tried again; of the others we know how they ended."""
        applied, locked = written.applied, written.locked
        over = [item for item in part if item.lease.job_id not in locked] if locked else part
        if self._unsure:
            try:
                applied |= await self._in_thread(self._already, over, applied)
            except Exception as error:
                self._signals.emit("store.unavailable", error=error, step="settle")
                self._set_aside(part)  # what is written already is known by the next look
                return
            self._unsure.difference_update([item.lease for item in over])
        if self._aside:
            self._aside.drop(over)
        if locked:
            self._set_aside([item for item in part if item.lease.job_id in locked])
        if over:
            self._tell(over, applied)

    async def _report(self) -> None:
        if self._news:
            news, self._news = self._news, []
            try:
                await self._in_thread(write_news, self._jobs, self._signals, news)
            except StoreUnavailable:
                self._news = news + self._news
                raise

    def _already(self, batch: list[Settlement], applied: frozenset[str]) -> frozenset[str]:
        """A lost answer to COMMIT: what is settled under our fence was settled by us."""
        found = set()
        for item in batch:
            if item.lease.job_id in applied or item.lease not in self._unsure:
                continue
            row = self._jobs.get(item.lease.job_id)
            if row is not None and row.fence == item.lease.fence and row.state is not State.RUNNING:
                found.add(row.id)
        return frozenset(found)

    def _tell(self, batch: list[Settlement], applied: frozenset[str]) -> None:
        ended = [item.lease.job_id for item in batch if item.state is not QUEUED]
        self.ended(ended)
        runs = self.settled(batch)
        heard = self._signals.heard("job.settled")
        counted = self._signals.heard("jobs.settled")
        if len(ended) == len(batch) and applied.issuperset(ended) and not (heard or counted):
            return  # by far the most of them: all are over, and nobody asks
        self._tell_each(zip(batch, runs, strict=True), applied, heard=heard, counted=counted)

    def _tell_each(
        self,
        batch: Iterable[tuple[Settlement, Run | None]],
        applied: frozenset[str],
        *,
        heard: bool,
        counted: bool,
    ) -> None:
        written: list[SettledRun] = []
        for item, run in batch:
            if item.lease.job_id not in applied:
                job = None if run is None else run.claimed
                self._signals.emit("job.settle_refused", **_facts(item), job=job)
                continue
            if item.state is QUEUED and run is not None:
                self.requeued(run.claimed.queue, item.delay_seconds)
            if heard:
                self._signals.emit("job.settled", **_facts(item))
            if counted and run is not None and not item.returned:  # those never ran
                written.append(tuple.__new__(SettledRun, (run.claimed, item, run.seconds)))
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
