"""Why jobs do not run, at most a second old: whoever polls a job asks the same again and again."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import Any

from tenure.app import Tenure
from tenure.core.job import Job, State
from tenure.core.rules.why import Why
from tenure.operations.insight import Around

FRESH_SECONDS = 1.0
ROUNDING_SECONDS = 0.005
MOST = 10_000


class WhyCache:
    """What stands around all jobs is asked for once a second, and so is a waiting job's place."""

    def __init__(self, engine: Tenure) -> None:
        self._engine = engine
        self._asking = threading.Lock()
        self._seen: tuple[float, Around] | None = None
        self._known: OrderedDict[str, tuple[float, Any, Why]] = OrderedDict()

    def why(self, job: Job) -> Why:
        """The one reason why it is not running."""
        if job.state.final:
            return self._engine.insight.why(job)
        if job.state is State.RUNNING:
            return self._engine.insight.why(job, self._around())
        row = (job.fence, job.hold, job.run_at, job.priority)
        found = self._known.get(job.id)
        now = time.monotonic()
        if found is not None and found[1] == row and now - found[0] < FRESH_SECONDS:
            return found[2]
        told = self._engine.insight.why(job, self._around())
        self._known[job.id] = (now, row, told)
        while len(self._known) > MOST:
            self._known.popitem(last=False)
        return told

    def warning(self, kind: str, queue: str | None) -> str | None:
        """Where no live worker takes such a job; this process may know the kind without working."""
        alive = self._around().alive
        knowing = [worker for worker in alive if kind in worker.kinds]
        if not knowing and self._engine.handlers.get(kind) is None:
            return f"no live worker knows the kind {kind!r}; the job waits until one does"
        if queue is None or not knowing or any(queue in worker.queues for worker in knowing):
            return None
        return (
            f"no live worker takes {kind!r} from the queue {queue!r}; the job waits until one does"
        )

    def _around(self) -> Around:
        """By the store's clock of now, though it was asked up to a second ago. A little ahead, as a
        store may round to milliseconds: what is due must not be shown as coming.
        """
        with self._asking:  # one asks, the others have its answer
            now = time.monotonic()
            if self._seen is None or now - self._seen[0] >= FRESH_SECONDS:
                self._seen = (now, self._engine.insight.around())
            at, around = self._seen
        return around.later(now - at + ROUNDING_SECONDS)
