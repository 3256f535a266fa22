"""A handler: the function that runs the jobs of a kind, with its options in one app."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tenure.core.job import NewJob, Placement, Unplaced
from tenure.core.lease import ClaimedJob
from tenure.jobs.arguments import Arguments
from tenure.jobs.codec import EMPTY
from tenure.jobs.enqueue import Enqueues, HandlerFunction, P
from tenure.jobs.handler_options import (
    HandlerOptions,
    JobOptions,
    RunsIn,
    check_declared,
    check_function,
    options_in,
)
from tenure.jobs.options import Options, new_job

if TYPE_CHECKING:
    from tenure.jobs.app_protocol import App


class Handler(Enqueues[P]):
    """A handler of an app. Call `enqueue` with exactly the function's own arguments."""

    def __init__(
        self,
        app: App,
        kind: str,
        function: HandlerFunction[P],
        options: HandlerOptions,
        arguments: Arguments | None = None,
    ) -> None:
        check_function(kind, function, options.runs_in)
        super().__init__(kind, function, arguments or Arguments(kind, function))
        self.app = app
        self.options = options
        self.on_loop = options.runs_in is RunsIn.LOOP
        # The bound method itself, not a method that calls it: every run of a job goes through it.
        self.unpack = self.arguments.unpack
        self.included_by = ""
        """The module that included it in the app, if it was declared by a `Jobs`."""
        self.notes: dict[str, list[Any]] = {}
        """What features have declared about it, if it was declared by a `Jobs`."""

    def target(self) -> App:
        """The app that jobs are added to."""
        return self.app

    @cached_property
    def defaults(self) -> Options:
        """The options of its jobs where the caller gives none."""
        queue, priority, max_attempts = self.placement
        return {"queue": queue, "priority": priority, "max_attempts": max_attempts}

    @cached_property
    def template(self) -> NewJob:
        """A job without arguments and with the default options."""
        return new_job(self.kind, EMPTY, self.defaults)

    @property
    def placement(self) -> Placement:
        """Queue, priority and number of attempts of its jobs where the caller gives none."""
        options = self.options
        return Placement(options.queue, options.priority, options.retry.attempts)

    @property
    def import_path(self) -> tuple[str, str, str]:
        """How another process finds it: module, qualified name, and the module that included it."""
        return self.function.__module__, self.function.__qualname__, self.included_by

    def decide(self, claimed: ClaimedJob) -> ClaimedJob:
        """A job that was enqueued by a program without this handler gets its number of attempts."""
        if not claimed.unplaced & Unplaced.MAX_ATTEMPTS:
            return claimed
        return claimed._replace(max_attempts=self.options.retry.attempts)


def declares(
    app: App, kind: str, options: JobOptions
) -> Callable[[HandlerFunction[P]], Handler[P]]:
    """The decorator behind `app.job(...)`."""
    check_declared(kind, options)

    def declare(function: HandlerFunction[P]) -> Handler[P]:
        handler = Handler(app, kind, function, options_in(app.settings, function, options))
        app.handlers.add(handler)
        return handler

    return declare
