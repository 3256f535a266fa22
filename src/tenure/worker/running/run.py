"""One run of one job: bind its arguments, run the handler, name the ending."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from tenure.core.errors import ArgumentsError
from tenure.core.lease import ClaimedJob, Standing
from tenure.core.origin import Span
from tenure.core.outcome import Ending, Fail, Raised
from tenure.jobs.handler import Handler
from tenure.jobs.handler_options import RunsIn
from tenure.jobs.running_job import RunningJob, current_job
from tenure.worker.running.ending import LOST, TIMEOUT, HandlerExit, after_error, after_return
from tenure.worker.running.middleware import await_inside

RESERVED, SUSPECT = int(Standing.RESERVED), int(Standing.SUSPECT)
Starter = Callable[["Run", dict[str, Any]], "asyncio.Future[Any]"]
"""Starts a handler in a thread or a process and returns the future of its value."""
Ended = Callable[["Run", Ending | None], None]


class Run:
    """A claimed job: waiting for a slot, at work, or ended. Lives on the event loop's thread."""

    __slots__ = (
        "alone", "begun", "cancel_told", "claimed", "done", "ended", "handler", "job", "lost",
        "reserved", "seconds", "span", "stop", "trusted_until", "waits_since",
    )  # fmt: skip

    def __init__(self, handler: Handler[Any], claimed: ClaimedJob, trusted_until: float) -> None:
        self.handler = handler
        if claimed.unplaced:  # it was enqueued by name, where the handler was not known
            claimed = handler.decide(claimed)
        self.claimed = claimed
        self.job = RunningJob(handler.app, claimed)
        self.reserved = claimed.standing == RESERVED
        self.trusted_until = trusted_until
        self.waits_since = time.monotonic()
        self.alone = False
        self.cancel_told = False
        self.ended = False
        self.lost = False
        self.begun: float | None = None
        self.seconds: float | None = None
        self.span: Span | None = None
        self.stop: Callable[[], object] | None = None
        self.done: Ended | None = None

    @property
    def suspect(self) -> bool:
        """Whether it was at work when a worker died, and may have been the cause."""
        if self.claimed.standing < SUSPECT:
            return False
        return self.handler.options.runs_in is not RunsIn.PROCESS

    @property
    def expired(self) -> bool:
        """Whether it is too late to begin, by the store's clock as far as we know it."""
        claimed = self.claimed
        runs = claimed.attempt + claimed.refunds + claimed.snoozes
        if claimed.expires_micros is None or runs > 1:  # a job that began once does not expire
            return False
        waited = (time.monotonic() - self.waits_since) * 1_000_000
        return claimed.started_micros + waited >= claimed.expires_micros

    def bind(self) -> dict[str, Any] | Fail:
        """The handler's arguments; or the failure, if the payload does not fit them."""
        self.begun = time.monotonic()
        if self.handler.app.tracing is not None:
            self.span = self.handler.app.tracing.run(self.claimed)
        try:
            return self.handler.unpack(self.claimed.payload)
        except Exception as error:  # a validator of the user's may raise anything
            failed = Fail(str(error), code="bad_arguments")
            failed.__cause__ = None if isinstance(error, ArgumentsError) else error
            return failed

    async def here(self, task: asyncio.Task[Any]) -> Ending | None:
        """Run an async handler on this task. The ending, or None if there is nothing to write."""
        arguments = self.bind()
        if isinstance(arguments, Fail):
            return arguments
        self.stop = task.cancel
        token, entered = current_job.set(self.job), self.span and self.span.enter()
        try:
            if self.handler.app.hooks.all_middleware:
                value = await await_inside(self.job, arguments, self.handler)
            else:
                value = await self.handler.function(self.job, **arguments)
        except (SystemExit, KeyboardInterrupt) as error:
            return after_error(self, HandlerExit(repr(error)))
        except (Exception, asyncio.CancelledError) as error:
            return after_error(self, error)
        else:
            return after_return(self, value)
        finally:
            self.stop = None
            if self.span is not None:
                self.span.leave(entered)
            current_job.reset(token)

    def elsewhere(self, start: Starter, done: Ended) -> None:
        """Run the handler in a thread or a process; `done` is called with its ending."""
        arguments = self.bind()
        if isinstance(arguments, Fail):
            done(self, arguments)
            return
        self.done = done
        token, entered = current_job.set(self.job), self.span and self.span.enter()
        try:
            future = start(self, arguments)
        except Exception as error:
            done(self, Raised(error))
        else:
            future.add_done_callback(self._finished)
        finally:
            if self.span is not None:
                self.span.leave(entered)
            current_job.reset(token)

    def check_time(self, now: float) -> None:
        """Interrupt the handler if it has run past its limit."""
        if self.begun is not None and now - self.begun > self.handler.options.timeout:
            self.interrupt(TIMEOUT)

    def interrupt(self, reason: str) -> None:
        """Tell the handler to stop, and stop it if that is possible. The first reason counts."""
        job, told = self.job, self.job.stop_reason
        if told is None or reason == LOST:
            job.stop_reason = reason
        if job.stop_reason == told:
            return
        if self.stop is not None:
            self.stop()
        elif reason == TIMEOUT:  # nobody can stop a thread: it keeps its slot until it ends
            job.app.signals.emit("job.overrun", id=job.id, kind=job.kind, job=job.claimed)

    def _finished(self, future: asyncio.Future[Any]) -> None:
        self.stop = None
        if self.done is None:
            return
        if future.cancelled():
            self.done(self, after_error(self, asyncio.CancelledError()))
        elif (error := future.exception()) is not None:
            self.done(self, after_error(self, error))
        else:
            self.done(self, after_return(self, future.result()))
