"""`python -m tests.crash.foreground`: a worker in a program that goes on, as process 1 would be.

It runs a suspect, and ends with 0 if nothing is left of the worker's processes.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Mapping
from typing import Any

from tenure import RunningJob, State, Tenure, Worker
from tenure.stores.contract import ClaimRequest
from tests.support.until import until

PR_SET_CHILD_SUBREAPER = 36
DEAD = ClaimRequest(owner="dead", kinds=["suspect"], slots={"default": 1}, lease_seconds=0.2)
app = Tenure()


@app.job("suspect")
def suspect(job: RunningJob) -> int:
    return os.getpid()


def main() -> int:
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    ref = app.enqueue("suspect")
    assert app.store.jobs.claim(DEAD).jobs
    app.close()
    worker = Worker(app)
    app.signals.subscribe(lambda name, facts: _stop(worker, name, facts))
    worker.run()
    assert app.get(ref).state is State.SUCCEEDED
    assert app.get(ref).value != os.getpid()
    until(_nobody_is_left)
    return 0


def _stop(worker: Worker, name: str, facts: Mapping[str, Any]) -> None:
    if name == "jobs.settled":
        worker.stop()


def _nobody_is_left() -> bool:
    """A child that has died and that nobody has waited for is a child still."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return True
    return False


if __name__ == "__main__":
    sys.exit(main())
