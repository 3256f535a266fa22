"""A claim: who holds a job, under which fence, and what to do about holders that went silent."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from tenure.core.clock import from_micros
from tenure.core.job import Unplaced


class Lease(NamedTuple):
    """The right to change one running job. The fence decides, not the owner's name."""

    job_id: str
    fence: int
    owner: str


class ClaimedJob(NamedTuple):
    """What a worker needs to run a job once."""

    lease: Lease
    kind: str
    queue: str
    payload: str
    priority: int
    tenant: str
    owner: str | None
    attempt: int
    max_attempts: int
    snoozes: int
    refunds: int
    correlation_id: str | None
    trace: str | None
    cancel_requested: bool
    started_micros: int
    unplaced: Unplaced | int = 0

    @property
    def started_at(self) -> datetime:
        """When this run was claimed, by the store's clock."""
        return from_micros(self.started_micros)

    @property
    def id(self) -> str:
        """The job's id."""
        return self.lease.job_id


class Recovery(StrEnum):
    """What becomes of a job whose lease ran out."""

    AGAIN = "again"
    BURY = "bury"
    CANCEL = "cancel"


def recover(*, attempt: int, max_attempts: int, cancel_requested: bool) -> Recovery:
    """A crash counts like an error: the attempt is spent, and the last one buries the job."""
    if cancel_requested:
        return Recovery.CANCEL
    if attempt >= max_attempts:
        return Recovery.BURY
    return Recovery.AGAIN
