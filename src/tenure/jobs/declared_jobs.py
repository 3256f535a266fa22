"""`Jobs`: handlers that are declared without an app, and included in one later."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Unpack

from tenure.core.errors import OptionError, UsageError
from tenure.jobs.arguments import Arguments
from tenure.jobs.enqueue import Enqueues, HandlerFunction, P
from tenure.jobs.handler import Handler
from tenure.jobs.handler_options import (
    JobOptions,
    check_declared,
    check_function,
    options_in,
    where_it_runs,
)
from tenure.jobs.running_job import current_job

if TYPE_CHECKING:
    from tenure.jobs.app_protocol import App

PACKAGE = __name__.partition(".")[0]


class Jobs:
    """Handlers of a module, a feature or a library: no app is needed to declare them.

    >>> from tenure import Jobs, Tenure
    >>> jobs = Jobs()
    >>> @jobs.job("greet", queue="mail")
    ... def greet(job, name: str) -> str:
    ...     return f"Hello {name}"
    >>> app = Tenure("sqlite:///tenure.db")
    >>> app.include(jobs)
    >>> greet.enqueue(name="Ada")            # doctest: +SKIP
    JobRef(id='1', created=True)

    Timeout, attempts and priority that the decorator leaves out come from the app's settings. Each
    app that includes it gets handlers of its own. If several do, `greet.enqueue` adds to the app
    of the job that is running here; elsewhere name the app: `greet.on(app).enqueue(...)`.
    """

    def __init__(self) -> None:
        self._handlers: dict[str, DeclaredHandler[Any]] = {}
        self._apps: list[App] = []

    def job(
        self, kind: str, **options: Unpack[JobOptions]
    ) -> Callable[[HandlerFunction[P]], DeclaredHandler[P]]:
        """Declare a handler; the options are those of `app.job`."""
        check_declared(kind, options)

        def declare(function: HandlerFunction[P]) -> DeclaredHandler[P]:
            if kind in self._handlers:
                raise OptionError(f"{kind!r} has a handler already")
            handler = DeclaredHandler(self, kind, function, options)
            self._handlers[kind] = handler
            for app in self._apps:
                app.handlers.include(app, [handler])
            return handler

        return declare

    def __iter__(self) -> Iterator[DeclaredHandler[Any]]:
        return iter(self._handlers.values())

    def joined(self, app: App) -> None:
        """Remember an app that includes these handlers."""
        if app not in self._apps:
            # A test makes an app and closes it: a closed app no longer receives jobs from here.
            self._apps = [one for one in self._apps if not one.closed] + [app]

    def app_for(self, kind: str) -> App:
        """The app that a job of this kind is added to."""
        if not self._apps:
            raise UsageError(
                f"{kind!r} belongs to no app yet: call app.include(jobs) with the Jobs that "
                "declares it, before you enqueue"
            )
        return self._apps[0] if len(self._apps) == 1 else self._chosen(kind)

    def _chosen(self, kind: str) -> App:
        running = current_job.get()
        if running is not None and running.app in self._apps:
            return running.app
        found = [app for app in self._apps if not app.closed]
        if len(found) == 1:
            return found[0]
        if not found:
            raise UsageError(f"{kind!r} belongs to no open app: all that include it are closed")
        raise UsageError(
            f"{kind!r} is included in {len(found)} apps: name the one that gets the job, "
            "as in handler.on(app).enqueue(...)"
        )


class DeclaredHandler(Enqueues[P]):
    """A handler of a `Jobs`. It enqueues to the app that includes it."""

    def __init__(
        self, jobs: Jobs, kind: str, function: HandlerFunction[P], options: JobOptions
    ) -> None:
        # Every function is checked here, and not first when an app includes it.
        check_function(kind, function, where_it_runs(function, options))
        super().__init__(kind, function, Arguments(kind, function))
        self._jobs = jobs
        self._options = options
        self.notes: dict[str, list[Any]] = {}
        """What features have declared about it, by feature; each app's handler has the same."""

    def target(self) -> App:
        """The app that jobs are added to."""
        return self._jobs.app_for(self.kind)

    def on(self, app: App) -> Handler[P]:
        """The handler of one app, where several have included it."""
        found = app.handlers.get(self.kind)
        if found is None or found.function is not self.function:
            raise UsageError(f"{self.kind!r} is not included in this app: call app.include(jobs)")
        return found

    def bind(self, app: App) -> Handler[P]:
        """A handler of the app, with its defaults for the options that were left out."""
        options = options_in(app.settings, self.function, self._options)
        handler = Handler(app, self.kind, self.function, options, self.arguments)
        handler.included_by = _including_module()
        handler.notes = self.notes
        self._jobs.joined(app)
        return handler


def _including_module() -> str:
    """The module that called `include`.

    A process handler runs in a child that imports modules by name. The module of the function does
    not know the app, so the child imports this one as well.
    """
    frame = sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == PACKAGE:
        frame = frame.f_back
    return str(frame.f_globals.get("__name__", ""))
