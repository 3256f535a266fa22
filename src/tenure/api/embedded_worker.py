"""The worker in the process of the API, which can be started and stopped over HTTP."""

from __future__ import annotations

import asyncio

from starlette.concurrency import run_in_threadpool

from tenure.api.kit.errors import WorkerRefused
from tenure.app import Tenure
from tenure.worker import Worker


class EmbeddedWorker:
    """The worker of this process, if it has one."""

    def __init__(self, engine: Tenure, worker: Worker | None) -> None:
        self._engine = engine
        self._worker = worker
        self._running = False
        # A start and a stop at the same time would leave a half-started worker.
        self._moving = asyncio.Lock()

    async def start(self, actor: str) -> None:
        """Start it; WorkerRefused if it runs already or there is none."""
        async with self._moving:
            if self._worker is None:
                raise WorkerRefused("this process has no worker: it serves the API alone")
            if self._running:
                raise WorkerRefused("the worker of this process is running already")
            await self._begin(self._worker)
        # Outside of the lock: the audit line needs the database, a stop must not wait for that.
        await self._note(actor, "worker.started")

    async def stop(self, actor: str) -> None:
        """Stop it: claim no more jobs, and wait for running ones."""
        async with self._moving:
            if self._worker is None or not self._running:
                raise WorkerRefused("no worker is running in this process")
            await self._end(self._worker)
        await self._note(actor, "worker.stopped")

    async def __aenter__(self) -> EmbeddedWorker:
        """Starts with the API."""
        if self._worker is not None:
            await self._begin(self._worker)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._worker is not None and self._running:
            await self._end(self._worker)

    async def _begin(self, worker: Worker) -> None:
        await worker.__aenter__()
        self._running = True

    async def _end(self, worker: Worker) -> None:
        self._running = False
        await worker.__aexit__()

    async def _note(self, actor: str, action: str) -> None:
        worker = "" if self._worker is None else self._worker.id
        await run_in_threadpool(self._engine.operator.audit.note, actor, action, worker)
