"""What is written when a run has ended: plain data. `rules/run_again.py` decides what it says."""

from __future__ import annotations

from typing import NamedTuple

from tenure.core.failure import Failure
from tenure.core.job import State
from tenure.core.lease import ClaimedJob, Lease

WORKER_CRASHED = "worker_crashed"


class Settlement(NamedTuple):
    """The write that ends a run.

    `entry` is the word for the job's history; None writes no history line, which is the rule for
    a success. `returned` marks a job that was claimed and never started: it goes back unchanged.
    `crash` marks a run that killed its process: the job becomes a suspect.
    """

    lease: Lease
    state: State
    entry: str | None = None
    delay_seconds: float = 0.0
    result: str | None = None
    reason: str | None = None
    failure: Failure | None = None
    refund: bool = False
    snooze: bool = False
    returned: bool = False
    crash: bool = False


class SettledRun(NamedTuple):
    """A settlement that was written, with the job it ends and how many seconds the run took."""

    job: ClaimedJob
    settlement: Settlement
    seconds: float | None = None


def crash_failure(how: str) -> Failure:
    """A crash, in the form that history shows."""
    return Failure(type="WorkerCrashed", message=how, code=WORKER_CRASHED)
