"""Where a handler runs: on the loop, in a thread, or in a process."""

from __future__ import annotations

import asyncio
from typing import Any

from tenure.app import Tenure
from tenure.jobs.handler_options import RunsIn
from tenure.worker.processes.isolation import Isolation, SuspectRuns
from tenure.worker.processes.process_runs import ProcessRuns
from tenure.worker.running.middleware import call_inside, start_inside
from tenure.worker.running.run import Run, Starter
from tenure.worker.running.threads import Threads


class Starters:
    """Threads and processes for the handlers that do not run on the loop, started as needed."""

    def __init__(self, app: Tenure, limit: int, isolation: Isolation | None) -> None:
        self._hooks = app.hooks
        self._isolation = isolation
        self._threads = Threads(limit)
        self._watchers = Threads(limit, "tenure-process")
        in_process = ProcessRuns(self._watchers).run
        self._by_runs_in: dict[RunsIn, Starter] = {
            RunsIn.THREAD: start_inside(app.hooks, self._in_thread),
            RunsIn.PROCESS: start_inside(app.hooks, in_process),
        }
        self._isolated: Starter | None = None
        if isolation is not None:
            self._isolated = start_inside(app.hooks, SuspectRuns(isolation, self._watchers).run)

    @property
    def isolates(self) -> bool:
        """Whether suspects get processes of their own; otherwise they have to run alone."""
        return self._isolation is not None and not self._isolation.broken

    def starter_of(self, run: Run) -> Starter | None:
        """What starts this run elsewhere; None if it runs on the loop."""
        if self._isolated is not None and run.suspect and not run.alone:
            return self._isolated
        handler = run.handler
        return None if handler.on_loop else self._by_runs_in[handler.options.runs_in]

    def close(self) -> None:
        """Let idle threads go."""
        self._threads.close()
        self._watchers.close()

    def _in_thread(self, run: Run, arguments: dict[str, Any]) -> asyncio.Future[Any]:
        if self._hooks.plain_middleware:
            return self._threads.submit(call_inside, run.job, arguments, run.handler)
        return self._threads.submit(run.handler.function, run.job, **arguments)
