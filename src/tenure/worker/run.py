"""One run of one job: bind its arguments, run the handler in its place, name the ending."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from tenure.codec import decode, encode
from tenure.core.errors import ArgumentsError
from tenure.core.lease import ClaimedJob
from tenure.core.outcome import (
    Cancel,
    Ending,
    Fail,
    Outcome,
    Raised,
    Released,
    Retry,
    TimedOut,
    as_ending,
)
from tenure.handlers import Handler, RunsIn
from tenure.running import RunningJob, current_job

TIMEOUT, CANCEL, LOST, SHUTDOWN = "timeout", "cancel", "lost", "shutdown"
Place = Callable[["Run", dict[str, Any]], Awaitable[Any]]


class Run:
    """A claimed job under way. `interrupt` is called on the event loop only."""

    def __init__(self, handler: Handler[Any], claimed: ClaimedJob) -> None:
        self.handler = handler
        self.claimed = claimed
        self.job = RunningJob(handler.app, claimed)
        self.stop: Callable[[], object] | None = None
        self.abandoned = False
        self.ended = False

    def interrupt(self, reason: str) -> None:
        """Tell the handler, and stop it where it can be stopped. The first reason counts."""
        if self.job.stop_reason is None or reason == LOST:
            self.job.stop_reason = reason
        if reason == TIMEOUT and self.handler.options.runs_in is RunsIn.THREAD:
            self.job.app.signals.emit("job.overrun", id=self.claimed.id, kind=self.claimed.kind)
        if self.stop is not None:
            self.stop()


async def run(current: Run, place: Place) -> Ending | None:
    """The ending of a run; None where there is nothing to write: settled, or the lease is lost."""
    try:
        arguments = current.handler.unpack(decode(current.claimed.payload))
    except (ArgumentsError, ValueError) as error:
        return Fail(str(error), code="bad_arguments")
    limit = current.handler.options.timeout
    timer = asyncio.get_running_loop().call_later(limit, current.interrupt, TIMEOUT)
    token = current_job.set(current.job)
    try:
        value = await place(current, arguments)
    except BaseException as error:  # the handler's, whatever it is
        return _after_error(current, error)
    else:
        return _after_return(current, value)
    finally:
        current_job.reset(token)
        timer.cancel()


async def on_loop(current: Run, arguments: dict[str, Any]) -> Any:
    """An async handler: a task of its own, so that it can be cancelled without us."""
    task = asyncio.ensure_future(current.handler.function(current.job, **arguments))
    current.stop = task.cancel
    await asyncio.wait({task})
    return task.result()


def _after_return(current: Run, value: Any) -> Ending | None:
    job = current.job
    if job.settled or job.stop_reason == LOST:
        return None
    if job.joined:
        return Retry("job.settle(tx=...) joined a transaction that never committed")
    if job.stop_reason == TIMEOUT:
        return TimedOut(current.handler.options.timeout)
    if job.stop_reason == CANCEL and job.noticed and value is None:
        return Cancel("canceled")
    try:
        limit = job.app.settings.payload_limit_bytes
        return as_ending(value, lambda result: encode(result, limit, "result"))
    except Exception as error:
        return Raised(error)


def _after_error(current: Run, error: BaseException) -> Ending | None:
    job = current.job
    if job.settled or job.stop_reason == LOST:
        return None
    if job.stop_reason == TIMEOUT:
        return TimedOut(current.handler.options.timeout)
    if job.stop_reason == CANCEL:
        return Cancel("canceled")
    if job.stop_reason == SHUTDOWN and isinstance(error, asyncio.CancelledError):
        return Released()
    return error if isinstance(error, Outcome) else Raised(error)
