"""One run of one job: bind its arguments, run the handler in its place, name the ending."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from tenure.core.errors import ArgumentsError
from tenure.core.lease import ClaimedJob, Standing
from tenure.core.origin import Span
from tenure.core.outcome import (
    Cancel,
    Crashed,
    Done,
    Ending,
    Fail,
    Outcome,
    Raised,
    Released,
    Retry,
    Returned,
    TimedOut,
    as_ending,
)
from tenure.jobs.codec import encode
from tenure.jobs.handler import Handler
from tenure.jobs.handler_options import RunsIn
from tenure.jobs.running_job import RunningJob, current_job

TIMEOUT, CANCEL, LOST, SHUTDOWN = "timeout", "cancel", "lost", "shutdown"
NOTHING = Done()
RESERVED, SUSPECT = int(Standing.RESERVED), int(Standing.SUSPECT)
Place = Callable[["Run", dict[str, Any]], "asyncio.Future[Any]"]
"""Starts a handler in a thread or a process and answers the future of its value."""
Told = Callable[["Run", Ending | None], None]


class HandlerExit(Exception):
    """The handler raised SystemExit or KeyboardInterrupt, which must not end the worker."""


class DiedApart(Exception):
    """The process that ran a suspect, and nothing else, died without a word."""

    def __init__(self, how: str, *, asked: bool = False) -> None:
        super().__init__(how)
        self.asked = asked


class NotApart(Exception):
    """No process could be started for a suspect; its handler has not begun."""


class Run:
    """A claimed job: waiting for a slot, at work, or ended. Lives on the event loop's thread."""

    __slots__ = (
        "begun",
        "cancel_told",
        "claimed",
        "done",
        "ended",
        "handler",
        "job",
        "lost",
        "reserved",
        "seconds",
        "span",
        "stop",
        "trusted_until",
        "waits_since",
    )

    def __init__(self, handler: Handler[Any], claimed: ClaimedJob, trusted_until: float) -> None:
        self.handler = handler
        if claimed.unplaced:  # it was added by name, and nobody knew the handler
            claimed = handler.decide(claimed)
        self.claimed = claimed
        self.job = RunningJob(handler.app, claimed)
        self.reserved = claimed.standing == RESERVED
        self.trusted_until = trusted_until
        self.waits_since = time.monotonic()
        self.cancel_told = False
        self.ended = False
        self.lost = False
        self.begun: float | None = None
        self.seconds: float | None = None
        self.span: Span | None = None
        self.stop: Callable[[], object] | None = None
        self.done: Told | None = None

    @property
    def suspect(self) -> bool:
        """Whether it was at work when a worker died, and could have been the cause."""
        if self.claimed.standing < SUSPECT:
            return False
        return self.handler.options.runs_in is not RunsIn.PROCESS

    @property
    def expired(self) -> bool:
        """Whether it may not begin any more, by the store's clock as we know it."""
        claimed = self.claimed
        runs = claimed.attempt + claimed.refunds + claimed.snoozes
        if claimed.expires_micros is None or runs > 1:  # one that has started once does not expire
            return False
        waited = (time.monotonic() - self.waits_since) * 1_000_000
        return claimed.started_micros + waited >= claimed.expires_micros

    def bind(self) -> dict[str, Any] | Fail:
        """The handler's arguments; or the failure that the payload is."""
        self.begun = time.monotonic()
        if self.handler.app.tracing is not None:
            self.span = self.handler.app.tracing.run(self.claimed)
        try:
            return self.handler.unpack(self.claimed.payload)
        except Exception as error:  # also what a validator of the user's raises
            failed = Fail(str(error), code="bad_arguments")
            failed.__cause__ = None if isinstance(error, ArgumentsError) else error
            return failed

    async def here(self, task: asyncio.Task[Any]) -> Ending | None:
        """Run an async handler on this task; the ending, or None where nothing is to write."""
        arguments = self.bind()
        if isinstance(arguments, Fail):
            return arguments
        self.stop = task.cancel
        token, entered = current_job.set(self.job), self.span and self.span.enter()
        try:
            value = await self.handler.function(self.job, **arguments)
        except (SystemExit, KeyboardInterrupt) as error:
            return _after_error(self, HandlerExit(repr(error)))
        except (Exception, asyncio.CancelledError) as error:
            return _after_error(self, error)
        else:
            return _after_return(self, value)
        finally:
            self.stop = None
            if self.span is not None:
                self.span.leave(entered)
            current_job.reset(token)

    def elsewhere(self, place: Place, done: Told) -> None:
        """Run the handler in a thread or a process; `done` is called with its ending."""
        arguments = self.bind()
        if isinstance(arguments, Fail):
            done(self, arguments)
            return
        self.done = done
        token, entered = current_job.set(self.job), self.span and self.span.enter()
        try:
            future = place(self, arguments)
        except Exception as error:
            done(self, Raised(error))
        else:
            future.add_done_callback(self._finished)
        finally:
            if self.span is not None:
                self.span.leave(entered)
            current_job.reset(token)

    def check_time(self, now: float) -> None:
        """Interrupt the handler where it has run past its limit."""
        if self.begun is not None and now - self.begun > self.handler.options.timeout:
            self.interrupt(TIMEOUT)

    def interrupt(self, reason: str) -> None:
        """Tell the handler, and stop it where it can be stopped. The first reason counts."""
        job, told = self.job, self.job.stop_reason
        if told is None or reason == LOST:
            job.stop_reason = reason
        if job.stop_reason == told:
            return
        if self.stop is not None:
            self.stop()
        elif reason == TIMEOUT:  # a thread, which keeps its slot until it ends
            job.app.signals.emit("job.overrun", id=job.id, kind=job.kind, job=job.claimed)

    def _finished(self, future: asyncio.Future[Any]) -> None:
        self.stop = None
        if self.done is None:
            return
        if future.cancelled():
            self.done(self, _after_error(self, asyncio.CancelledError()))
        elif (error := future.exception()) is not None:
            self.done(self, _after_error(self, error))
        else:
            self.done(self, _after_return(self, future.result()))


def _after_return(run: Run, value: Any) -> Ending | None:
    job = run.job
    if job.settled or job.stop_reason == LOST:
        return None
    if job.joined:
        return Retry("job.settle(tx=...) joined a transaction that never committed")
    if job.stop_reason == TIMEOUT:
        return TimedOut(run.handler.options.timeout)
    if job.stop_reason == CANCEL and job.noticed and value is None:
        return Cancel("canceled")
    if job.stop_reason == SHUTDOWN and job.noticed and value is None:
        return Released()
    if value is None:
        return NOTHING
    try:
        return as_ending(value, lambda result: encode(result, _limit(job), "result"))
    except Exception as error:
        return Raised(error)


def _after_error(run: Run, error: BaseException) -> Ending | None:
    job = run.job
    if job.settled or job.stop_reason == LOST:
        return None
    if job.stop_reason == TIMEOUT:
        return TimedOut(run.handler.options.timeout)
    if job.stop_reason == CANCEL:
        return Cancel("canceled")
    if job.stop_reason == SHUTDOWN and isinstance(error, asyncio.CancelledError):
        return Released()
    if isinstance(error, DiedApart):
        return Released() if error.asked else Crashed(str(error))
    if isinstance(error, NotApart):
        return Returned()
    return error if isinstance(error, Outcome) else Raised(error)


def _limit(job: RunningJob) -> int:
    return job.app.settings.payload_limit_bytes
