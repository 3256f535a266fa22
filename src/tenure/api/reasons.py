"""Why jobs do not run, at most a second old: whoever polls a job asks the same again and again."""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import Any

from tenure.core.job import Job, State
from tenure.core.why import Why
from tenure.engine import Tenure

FRESH_SECONDS = 1.0
MOST = 10_000


class Reasons:
    """A waiting job's reason takes several statements; every other one is told by its row."""

    def __init__(self, engine: Tenure) -> None:
        self._engine = engine
        self._known: OrderedDict[str, tuple[float, Any, Why]] = OrderedDict()

    def why(self, job: Job) -> Why:
        """The one reason why it is not running."""
        if job.state is not State.QUEUED:
            return self._engine.insight.why(job)
        row = (job.fence, job.hold, job.run_at, job.priority)
        found = self._known.get(job.id)
        now = time.monotonic()
        if found is not None and found[1] == row and now - found[0] < FRESH_SECONDS:
            return found[2]
        told = self._engine.insight.why(job)
        self._known[job.id] = (now, row, told)
        while len(self._known) > MOST:
            self._known.popitem(last=False)
        return told
