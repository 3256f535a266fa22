"""Metrics of the whole fleet, read from the database every few seconds at most."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tenure.app import Tenure
from tenure.stores.contract.parts import Load
from tenure.watch.samples import Samples

FRESH_SECONDS = 5.0
STUCK_AFTER_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """The state of the fleet at one moment."""

    now: datetime
    loads: Sequence[Load]
    stuck: int
    workers: int

    @property
    def queued(self) -> int:
        """Waiting jobs in all queues."""
        return sum(load.queued for load in self.loads)


class Fleet:
    """Reads the state of the fleet. Concurrent scrapes share one read."""

    def __init__(self, app: Tenure) -> None:
        self._app = app
        self._lock = threading.Lock()
        self._seen: tuple[float, Look | None] | None = None

    def look(self) -> Look | None:
        """The state, at most a few seconds old; None if the database does not answer."""
        with self._lock:
            if self._seen is None or time.monotonic() - self._seen[0] >= FRESH_SECONDS:
                found = self._ask()
                self._seen = time.monotonic(), found
            return self._seen[1]

    def _ask(self) -> Look | None:
        insight = self._app.insight
        try:
            return Look(
                now=self._app.store.now(),
                loads=insight.loads(),
                stuck=insight.overdue(STUCK_AFTER_SECONDS),
                workers=sum(worker.alive for worker in insight.workers()),
            )
        except Exception:
            return None

    def sample(self, samples: Samples) -> None:
        """Add all fleet metrics to a scrape."""
        look = self.look()
        samples.gauge("database_up", float(look is not None))
        if look is None:
            return
        samples.gauge("pending_count", look.queued)
        samples.gauge("stuck_jobs", look.stuck)
        samples.gauge("workers_alive", look.workers)
        for load in look.loads:
            samples.gauge("queue_depth", load.queued, load.queue)
            samples.gauge("due_pending", load.due, load.queue)
            samples.gauge("held_jobs", load.held, load.queue)
            samples.gauge("running_jobs", load.running, load.queue)
            samples.gauge("oldest_pending_age_seconds", _age(load, look.now), load.queue)


def _age(load: Load, now: datetime) -> float:
    if load.oldest_run_at is None:
        return 0.0
    return max(0.0, (now - load.oldest_run_at).total_seconds())
