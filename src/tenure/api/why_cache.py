"""Why jobs do not run, at most a second old: clients that poll a job ask again and again."""

from __future__ import annotations

import threading
import time
from collections.abc import Hashable, Sequence

from cachetools import TTLCache

from tenure.app import Tenure
from tenure.core.job import Job, State
from tenure.core.rules.why import Why
from tenure.operations.insight import Around
from tenure.operations.page_of_whys import PageOfWhys

FRESH_SECONDS = 1.0
# A store's clock may be rounded to milliseconds; five of them are more than enough.
ROUNDING_SECONDS = 0.005
MOST = 10_000


class WhyCache:
    """The state of the fleet and the reason of a waiting job are read once a second at most."""

    def __init__(self, engine: Tenure) -> None:
        self._engine = engine
        self._asking = threading.Lock()
        self._seen: tuple[float, Around] | None = None
        self._known: TTLCache[Hashable, Why] = TTLCache(MOST, FRESH_SECONDS, time.monotonic)
        self._lock = threading.Lock()

    def why(self, job: Job) -> Why:
        """The reason why it is not running."""
        if job.state.final:
            return self._engine.insight.why(job)
        if job.state is State.RUNNING:
            return self._engine.insight.why(job, self._around())
        # A job that has changed since is another entry: its old reason is not shown for it.
        name = (job.id, job.fence, job.hold, job.run_at, job.priority)
        with self._lock:
            found = self._known.get(name)
        if found is None:
            found = self._engine.insight.why(job, self._around())
            with self._lock:
                self._known[name] = found
        return found

    def whys(self, jobs: Sequence[Job]) -> dict[str, Why]:
        """The reasons of the waiting jobs of a page, by id; a few statements for all of them."""
        return PageOfWhys(self._engine.store, self._around()).of(jobs) if jobs else {}

    def warning(self, kind: str, queue: str | None) -> str | None:
        """A sentence if no live worker takes such a job. This process may know the kind and have no
        worker.
        """
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
        """The state of the fleet, with the store's clock moved on to now.

        A little further, because a store may round to milliseconds: a due job must not be shown as
        one whose time is still to come.
        """
        with self._asking:  # one thread asks, the others get its answer
            now = time.monotonic()
            if self._seen is None or now - self._seen[0] >= FRESH_SECONDS:
                self._seen = (now, self._engine.insight.around())
            at, around = self._seen
        return around.later(now - at + ROUNDING_SECONDS)
