"""A worker: one process that runs an app's jobs, until told to stop or for one tick."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import socket
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from tenure.app import Tenure
from tenure.worker.assignment import assignment_of, slots_of
from tenure.worker.background import work_until_stopped
from tenure.worker.embedded import WorkerTask, WorkerThread
from tenure.worker.event_loop import run_loop
from tenure.worker.processes.isolation import Isolation
from tenure.worker.session import one_tick, until_idle
from tenure.worker.settings import WorkerSettings
from tenure.worker.stop_request import StopRequest
from tenure.worker.tick import TickReport
from tenure.worker.upkeep.ageing import Ageing

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Worker:
    """`Worker(app).run()` works until SIGTERM. `with Worker(app):` works in a thread meanwhile,
    `async with Worker(app):` on the running loop.
    """

    def __init__(
        self,
        app: Tenure,
        *,
        concurrency: int | None = None,
        queues: Mapping[str, int] | None = None,
        settings: WorkerSettings | None = None,
    ) -> None:
        self.app = app
        app.features.load()
        self.settings = settings or WorkerSettings()
        self.id = f"{socket.gethostname()[:40]}:{os.getpid()}:{secrets.token_hex(4)}"
        self.started_at = datetime.now(UTC).isoformat()
        self.assignment = assignment_of(app, self.settings)
        concurrency = concurrency or app.settings.concurrency
        self.slots = slots_of(app, self.assignment, concurrency, queues)
        self.ageing = Ageing(app, self.id)
        self.stop_request = StopRequest()
        self.isolation: Isolation | None = None
        self._thread: WorkerThread | None = None
        self._task: WorkerTask | None = None

    def run(self) -> None:
        """Work until SIGINT or SIGTERM. A second signal gives everything back at once."""
        self.isolate()
        try:
            run_loop(self._until_signal)
        finally:
            if self.isolation is not None:
                self.isolation.close()

    def isolate(self) -> None:
        """Prepare processes for suspects: jobs that may have killed a worker.

        This forks, so it works only while this process has no other thread. `run` does it by
        itself; call it earlier if you start threads before `run`.
        """
        if self.isolation is None and self.settings.isolation == "process":
            self.isolation = Isolation.prepare(self.app)

    def tick(self) -> TickReport:
        """Run one tick within the budgets of the settings, then stop."""
        report: TickReport = run_loop(self.tick_async)
        return report

    async def tick_async(self) -> TickReport:
        """Run one tick on the running loop."""
        return await one_tick(self)

    def run_until_idle(self) -> int:
        """Run what is due, and what that enqueues, until nothing is; returns how many ran."""
        return int(run_loop(lambda: until_idle(self)))

    async def run_async(self) -> None:
        """Work on the running loop until `stop` is called."""
        await self._work()

    def stop(self) -> None:
        """Ask the worker to stop; a second call stops it at once. Any thread may call it."""
        self.stop_request.ask_from_any_thread()

    def __enter__(self) -> Worker:
        """Work in a thread meanwhile."""
        self._thread = WorkerThread(self._work)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        if self._thread is not None:
            self._thread.join()

    async def __aenter__(self) -> Worker:
        """Work on the running loop meanwhile, as in the lifespan of a web application."""
        self._task = WorkerTask(self._work)
        await self._task.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.stop()
        if self._task is not None:
            await self._task.join()

    async def _work(self, started: Callable[[], None] = lambda: None) -> None:
        await work_until_stopped(self, started)

    async def _until_signal(self) -> None:
        loop = asyncio.get_running_loop()
        for number in STOP_SIGNALS:
            loop.add_signal_handler(number, self.stop_request.ask)
        try:
            await self._work()
        finally:
            for number in STOP_SIGNALS:
                loop.remove_signal_handler(number)
