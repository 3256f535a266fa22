"""An app whose handlers run in processes and fail by class: a child must be able to import it."""

from __future__ import annotations

import os

from tenure import Delays, NotFound, RunningJob, Tenure, Throttled

app = Tenure(os.environ.get("THROTTLED_DATABASE", "sqlite://"))


class Gone(NotFound):
    """A class that only this module knows."""


class Refused(Exception):
    """Likewise."""


BY = {Gone: Delays(0, attempts=2), Refused: Delays(0, attempts=3)}
POLICY = Delays(by=BY)


@app.job("lookup", retry=POLICY, runs_in="process")
def lookup(job: RunningJob, how: str) -> None:
    if how == "throttled":
        if not job.step("once", lambda: job.fence) < job.fence:
            raise Throttled(0)
        return
    raise Gone("no such row") if how == "gone" else Refused("not now")
