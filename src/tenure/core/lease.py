"""A claim: who holds a job, under which fence, and whether its handler has started."""

from __future__ import annotations

from datetime import datetime
from enum import IntEnum
from typing import NamedTuple

from tenure.core.job import Unplaced
from tenure.core.timing.clock import from_micros


class Lease(NamedTuple):
    """The right to change one running job. The fence decides, not the owner's name."""

    job_id: str
    fence: int
    owner: str


class Standing(IntEnum):
    """How a job is held, or how it came back to the queue when a worker died.

    SOUND: its handler has started, or it waits like any other.
    RESERVED: claimed ahead, not started. Back in the queue: it must start where it is claimed.
    SUSPECT: it was running when a worker died. It runs in a process of its own.
    ALONE: the same in a worker that cannot start one: it runs with nothing beside it, so that
    another death convicts it.
    """

    SOUND = 0
    RESERVED = 1
    SUSPECT = 2
    ALONE = 3


class ClaimedJob(NamedTuple):
    """What a worker needs to run a job once. Fields that few jobs use come last."""

    lease: Lease
    kind: str
    queue: str
    payload: str
    priority: int
    tenant: str
    attempt: int
    max_attempts: int
    started_micros: int
    standing: int = 0
    owner: str | None = None
    snoozes: int = 0
    refunds: int = 0
    correlation_id: str | None = None
    trace: str | None = None
    cancel_requested: bool = False
    expires_micros: int | None = None
    unplaced: Unplaced | int = 0
    gate: str | None = None
    run_micros: int = 0

    @property
    def started_at(self) -> datetime:
        """When this run was claimed, by the store's clock."""
        return from_micros(self.started_micros)

    @property
    def id(self) -> str:
        """The job's id."""
        return self.lease.job_id
