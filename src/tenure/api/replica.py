"""The worker of this process: started and stopped over HTTP, and what it has done so far."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from starlette.concurrency import run_in_threadpool

from tenure.api.errors import WorkerRefused
from tenure.core.job import State
from tenure.core.signals import Signals
from tenure.engine import Tenure
from tenure.worker import Worker


class Replica:
    """This process's part of the fleet. Without a worker it only says so."""

    def __init__(self, engine: Tenure, worker: Worker | None) -> None:
        self._engine = engine
        self._worker = worker
        self._running = False
        self._started_at = 0.0
        self._moving = asyncio.Lock()
        self.totals = Totals(engine.signals)

    @property
    def running(self) -> bool:
        """Whether jobs are taken here."""
        return self._running

    @property
    def uptime_seconds(self) -> float:
        """Since it was last started."""
        return time.monotonic() - self._started_at if self._running else 0.0

    async def start(self, actor: str) -> None:
        """Take jobs; WorkerRefused where that is so already."""
        async with self._moving:
            if self._worker is None:
                raise WorkerRefused("this process has no worker: it serves the API alone")
            if self._running:
                raise WorkerRefused("the worker of this process is running already")
            await self._begin(self._worker)
        await self._note(actor, "worker.started")

    async def stop(self, actor: str) -> None:
        """Take no more jobs, and wait for those that run."""
        async with self._moving:
            if self._worker is None or not self._running:
                raise WorkerRefused("no worker is running in this process")
            await self._end(self._worker)
        await self._note(actor, "worker.stopped")

    async def __aenter__(self) -> Replica:
        """With the API: a worker that was given starts by itself."""
        if self._worker is not None:
            await self._begin(self._worker)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._worker is not None and self._running:
            await self._end(self._worker)
        self.totals.close()

    async def _begin(self, worker: Worker) -> None:
        await worker.__aenter__()
        self._running, self._started_at = True, time.monotonic()

    async def _end(self, worker: Worker) -> None:
        self._running = False
        await worker.__aexit__()

    async def _note(self, actor: str, action: str) -> None:
        worker = "" if self._worker is None else self._worker.id
        await run_in_threadpool(self._engine.operator.audit.note, actor, action, worker)


class Totals:
    """What the worker of this process has done, counted from its signals."""

    def __init__(self, signals: Signals) -> None:
        self.succeeded = self.failed = self.retries = 0
        self.last_poll: datetime | None = None
        self._stops = [
            signals.subscribe(self._settled, "job.settled"),
            signals.subscribe(self._polled, "jobs.claimed"),
        ]

    def close(self) -> None:
        """Count no more."""
        for stop in self._stops:
            stop()

    @property
    def processed(self) -> int:
        """Runs that ended."""
        return self.succeeded + self.failed + self.retries

    def _polled(self, _: str, facts: Mapping[str, Any]) -> None:
        self.last_poll = datetime.now(UTC)

    def _settled(self, _: str, facts: Mapping[str, Any]) -> None:
        match facts["state"]:
            case State.SUCCEEDED | State.SKIPPED:
                self.succeeded += 1
            case State.FAILED | State.DEAD | State.NOT_FOUND:
                self.failed += 1
            case State.QUEUED if facts["entry"] not in ("released", "snoozed"):
                self.retries += 1
