"""From a call to a NewJob: arguments are packed, and options come from the caller, else from the
handler, else from the job or request that is served here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Unpack

from tenure.core.errors import OptionError
from tenure.core.job import NewJob, Unplaced
from tenure.core.origin import Origin, origin
from tenure.jobs.arguments import Arguments
from tenure.jobs.codec import EMPTY
from tenure.jobs.options import TX_OPTIONS, Options, new_job, tx_options
from tenure.jobs.running_job import RunningJob, current_job

if TYPE_CHECKING:
    from tenure.jobs.app_protocol import App
    from tenure.jobs.reference import JobRef

P = ParamSpec("P")
HandlerFunction = Callable[Concatenate[RunningJob, P], Any]


class Enqueues(Generic[P]):
    """A function whose calls can be added as jobs. `enqueue` takes the function's own arguments."""

    def __init__(self, kind: str, function: HandlerFunction[P], arguments: Arguments) -> None:
        self.kind = kind
        self.function = function
        self.arguments = arguments

    def target(self) -> App:
        """The app that jobs are added to."""
        raise NotImplementedError

    def __call__(self, job: RunningJob, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Run the function itself, as in a test."""
        return self.function(job, *args, **kwargs)

    def using(self, **options: Unpack[Options]) -> EnqueueWith[P]:
        """The same with options: `render.using(key="inv:42", delay=60).enqueue(...)`."""
        return EnqueueWith(self, options)

    def new(self, *args: P.args, **kwargs: P.kwargs) -> NewJob:
        """A job to pass to `enqueue_many`."""
        return self.packed(self.target(), args, kwargs, {})

    def enqueue(self, *args: P.args, **kwargs: P.kwargs) -> JobRef:
        """Add a job; returns when it is durable."""
        app = self.target()
        return app.enqueue_many([self.packed(app, args, kwargs, {})])[0]

    async def enqueue_async(self, *args: P.args, **kwargs: P.kwargs) -> JobRef:
        """The same from a coroutine."""
        app = self.target()
        return (await app.enqueue_many_async([self.packed(app, args, kwargs, {})]))[0]

    def packed(
        self, app: App, args: tuple[Any, ...], kwargs: dict[str, Any], options: Options
    ) -> NewJob:
        """A checked job for an app; ArgumentsError if the arguments do not fit the function."""
        payload = self.arguments.pack(args, kwargs, app.settings.payload_limit_bytes)
        return described(app, self.kind, payload, options)


@dataclass(frozen=True, slots=True)
class EnqueueWith(Generic[P]):
    """A handler with options for the next job: what `using` returns."""

    handler: Enqueues[P]
    options: Options

    def using(self, **options: Unpack[Options]) -> EnqueueWith[P]:
        """More options on top."""
        return EnqueueWith(self.handler, {**self.options, **options})

    def new(self, *args: P.args, **kwargs: P.kwargs) -> NewJob:
        """A job to pass to `enqueue_many`."""
        if not TX_OPTIONS.isdisjoint(self.options):
            raise OptionError("a job made with new() gets its tx in enqueue_many(..., tx=...)")
        return self.handler.packed(self.handler.target(), args, kwargs, self.options)

    def enqueue(self, *args: P.args, **kwargs: P.kwargs) -> JobRef:
        """Add a job; returns when it is durable, or with `tx` when it is in the transaction."""
        app = self.handler.target()
        new = self.handler.packed(app, args, kwargs, self.options)
        return app.enqueue_many([new], **tx_options(self.options))[0]

    async def enqueue_async(self, *args: P.args, **kwargs: P.kwargs) -> JobRef:
        """The same from a coroutine."""
        app = self.handler.target()
        new = self.handler.packed(app, args, kwargs, self.options)
        return (await app.enqueue_many_async([new], **tx_options(self.options)))[0]


def described(app: App, kind: str, payload: str, options: Options) -> NewJob:
    """A job with what the caller says, else the handler, else the job or request served here."""
    here, made = origin.get(), _described(app, kind, payload, options)
    if here is None and app.tracing is None:
        return made
    found = _coming_from(app, here)
    return made._replace(**{name: value for name, value in found.items() if name not in options})


def _described(app: App, kind: str, payload: str, options: Options) -> NewJob:
    handler, parent = app.handlers.get(kind), current_job.get()
    if handler is None:
        return _unplaced(app, kind, payload, options, parent)
    if parent is None and not options:
        # Most jobs differ in their payload alone: the checked template saves the checks.
        return handler.template if payload == EMPTY else handler.template.with_payload(payload)
    if parent is None:
        return new_job(kind, payload, {**handler.defaults, **options})
    return new_job(kind, payload, {**handler.defaults, **_inherited(parent), **options})


def _unplaced(
    app: App, kind: str, payload: str, options: Options, parent: RunningJob | None
) -> NewJob:
    """A kind that this app does not know: what is not given is marked, and left to its handler."""
    settings = app.settings
    known: Options = {"priority": settings.priority, "max_attempts": settings.max_attempts}
    if parent is not None:
        known.update(_inherited(parent))
    missing = sum(flag for flag in Unplaced if str(flag.name).lower() not in options)
    return new_job(kind, payload, {**known, **options})._replace(unplaced=missing)


def _coming_from(app: App, here: Origin | None) -> dict[str, Any]:
    """The request's ids, unless a job is running here that has nothing to do with it."""
    traced = None if app.tracing is None else app.tracing.here()
    found = {"trace": traced}
    if here is not None and here.inside is current_job.get():
        found = {"correlation_id": here.correlation_id, "trace": traced or here.trace}
    return {name: value for name, value in found.items() if value is not None}


def _inherited(parent: RunningJob) -> Options:
    """What a job passes on to the jobs that it enqueues."""
    return {
        "correlation_id": parent.claimed.correlation_id,
        "trace": parent.claimed.trace,
        "enqueued_by": f"job:{parent.id}",
        "tenant": parent.tenant,
        "owner": parent.claimed.owner,
    }
