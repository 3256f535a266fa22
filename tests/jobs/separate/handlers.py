"""Handlers without an app. One runs in a process, which imports this module again by name."""

from __future__ import annotations

import os
from typing import Any

from tenure import Jobs, RunningJob

jobs = Jobs()


@jobs.job("separate.process", runs_in="process")
def in_process(job: RunningJob) -> dict[str, Any]:
    return {"pid": os.getpid(), "kinds": job.app.handlers.kinds}
