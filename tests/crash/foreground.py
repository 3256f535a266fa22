"""`python -m tests.crash.foreground`: a worker in a program that goes on, as process 1 would be.

It runs a suspect, and ends with 0 if nothing is left of the worker's processes. With the argument
`bereft` the copy that forks them is killed before it is needed.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from pathlib import Path

from tenure import RunningJob, State, Tenure, Worker
from tenure.stores.contract import ClaimRequest
from tests.support.until import until

PR_SET_CHILD_SUBREAPER = 36
DEAD = ClaimRequest(owner="dead", kinds=["suspect"], slots={"default": 1}, lease_seconds=0.2)
app = Tenure()


@app.job("suspect")
def suspect(job: RunningJob) -> int:
    return os.getpid()


def main(bereft: bool) -> int:
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    ref = app.enqueue("suspect")
    assert app.store.jobs.claim(DEAD).jobs
    app.close()
    worker = Worker(app)
    app.signals.subscribe(lambda *_: worker.stop(), "jobs.settled")
    if bereft:
        app.signals.subscribe(lambda *_: _kill_children(), "worker.started")
    worker.run()
    assert app.get(ref).state is State.SUCCEEDED
    assert (app.get(ref).result == os.getpid()) is bereft
    until(_nobody_is_left)
    return 0


def _kill_children() -> None:
    me = os.getpid()
    for child in Path(f"/proc/{me}/task/{me}/children").read_text().split():
        os.kill(int(child), signal.SIGKILL)


def _nobody_is_left() -> bool:
    """A child that has died and that nobody has waited for is a child still."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return True
    return False


if __name__ == "__main__":
    sys.exit(main("bereft" in sys.argv))
