"""What a handler returned or raised, as the ending of its run."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from tenure.core.outcome import (
    Cancel,
    Crashed,
    Done,
    Ending,
    Outcome,
    Raised,
    Released,
    Retry,
    Returned,
    TimedOut,
    as_ending,
)
from tenure.jobs.codec import encode

if TYPE_CHECKING:
    from tenure.worker.running.run import Run

TIMEOUT, CANCEL, LOST, SHUTDOWN = "timeout", "cancel", "lost", "shutdown"
"""Why a run is interrupted."""

NOTHING = Done()


class HandlerExit(Exception):
    """The handler raised SystemExit or KeyboardInterrupt, which must not end the worker."""


class IsolatedCrash(Exception):
    """The process that ran one suspect died. `asked` if it was told to end from outside."""

    def __init__(self, how: str, *, asked: bool = False) -> None:
        super().__init__(how)
        self.asked = asked


class IsolationFailed(Exception):
    """No process could be started for a suspect; its handler has not begun."""


def after_return(run: Run, value: Any) -> Ending | None:
    """The ending after a return; None if there is nothing to write."""
    job = run.job
    if job.settled or job.stop_reason == LOST:
        return None
    if job.joined:
        return Retry("job.settle(tx=...) joined a transaction that never committed")
    if job.stop_reason == TIMEOUT:
        return TimedOut(run.handler.options.timeout)
    # A handler that saw the request to stop and returns nothing has stopped. One that returns a
    # value has finished its work all the same.
    if job.stop_reason == CANCEL and job.noticed and value is None:
        return Cancel("canceled")
    if job.stop_reason == SHUTDOWN and job.noticed and value is None:
        return Released()
    if value is None:
        return NOTHING
    limit = job.app.settings.payload_limit_bytes
    try:
        return as_ending(value, lambda result: encode(result, limit, "result"))
    except Exception as error:
        return Raised(error)


def after_error(run: Run, error: BaseException) -> Ending | None:
    """The ending after an exception; None if there is nothing to write."""
    job = run.job
    if job.settled or job.stop_reason == LOST:
        return None
    if job.stop_reason == TIMEOUT:
        return TimedOut(run.handler.options.timeout)
    if job.stop_reason == CANCEL:
        return Cancel("canceled")
    if job.stop_reason == SHUTDOWN and isinstance(error, asyncio.CancelledError):
        return Released()
    if isinstance(error, IsolatedCrash):
        return Released() if error.asked else Crashed(str(error))
    if isinstance(error, IsolationFailed):
        return Returned()
    return error if isinstance(error, Outcome) else Raised(error)
