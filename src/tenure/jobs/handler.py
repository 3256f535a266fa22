"""Kind -> function and its options. A handler's arguments are bound and checked both ways."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Unpack

from pydantic import ValidationError

from tenure.core.errors import ArgumentsError, OptionError, UnknownKind
from tenure.core.job import NewJob, Placement, Unplaced
from tenure.core.lease import ClaimedJob
from tenure.core.origin import Origin, origin
from tenure.core.rules.limits import Limit, check_limit
from tenure.core.rules.retry import RetryPolicy
from tenure.jobs.arguments import arguments_model, problems, writes_canonical
from tenure.jobs.codec import EMPTY, encode, fitting
from tenure.jobs.options import PLACING, Options, check_name, new_job, place_of
from tenure.jobs.running_job import RunningJob, current_job

if TYPE_CHECKING:
    from tenure.app import Tenure
    from tenure.feature import Feature
    from tenure.jobs.reference import JobRef

P = ParamSpec("P")
HandlerFunction = Callable[Concatenate[RunningJob, P], Any]


class RunsIn(StrEnum):
    """Where a handler runs."""

    LOOP = "loop"
    THREAD = "thread"
    PROCESS = "process"


@dataclass(frozen=True, slots=True, kw_only=True)
class HandlerOptions:
    """What the decorator says."""

    queue: str
    timeout: float
    retry: RetryPolicy
    runs_in: RunsIn
    priority: int
    limit: Limit | None = None
    key_limit: Limit | None = None


@dataclass(frozen=True, slots=True)
class QueueSlots:
    """How many jobs of a queue one worker runs at a time, and the most that it claims at once."""

    slots: int
    batch: int | None = None


class Handler(Generic[P]):
    """A registered function. Call `enqueue` with exactly its own arguments."""

    def __init__(
        self, app: Tenure, kind: str, function: HandlerFunction[P], options: HandlerOptions
    ) -> None:
        check_name("kind", kind)
        check_name("queue", options.queue)
        self.app = app
        self.kind = kind
        self.function = function
        self.options = options
        self.on_loop = options.runs_in is RunsIn.LOOP
        self.defaults: Options = {
            "queue": options.queue,
            "priority": options.priority,
            "max_attempts": options.retry.attempts,
        }
        self._arguments = arguments_model(kind, function)
        self._names = tuple(self._arguments.model_fields)
        self._writes_canonical = writes_canonical(self._arguments)
        self._validate_json = self._arguments.__pydantic_validator__.validate_json
        for limit in (options.limit, options.key_limit):
            if limit is not None:
                check_limit(limit)
        _check_place(self)

    @property
    def placement(self) -> Placement:
        """Where its jobs go, and how often they are tried, unless the caller says otherwise."""
        options = self.options
        return Placement(options.queue, options.priority, options.retry.attempts)

    def decide(self, claimed: ClaimedJob) -> ClaimedJob:
        """A job that was added without knowing this handler: how often it is tried."""
        if not claimed.unplaced & Unplaced.MAX_ATTEMPTS:
            return claimed
        return claimed._replace(max_attempts=self.options.retry.attempts)

    @cached_property
    def template(self) -> NewJob:
        """A job without arguments, as the decorator says: most jobs differ in the payload alone."""
        return new_job(self.kind, EMPTY, self.defaults)

    def __call__(self, job: RunningJob, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Run the function itself, as in a test."""
        return self.function(job, *args, **kwargs)

    def using(self, **options: Unpack[Options]) -> Bound[P]:
        """The same handler with options: `render.using(key="inv:42", delay=60).enqueue(...)`."""
        return Bound(self, options)

    def new(self, *args: P.args, **kwargs: P.kwargs) -> NewJob:
        """A job to pass to `enqueue_many`."""
        return described(self.app, self.kind, self.pack(args, kwargs), {})

    def enqueue(self, *args: P.args, **kwargs: P.kwargs) -> JobRef:
        """Add a job; returns when it is durable."""
        return Bound(self, {}).enqueue(*args, **kwargs)

    async def enqueue_async(self, *args: P.args, **kwargs: P.kwargs) -> JobRef:
        """The same from a coroutine."""
        return await Bound(self, {}).enqueue_async(*args, **kwargs)

    def pack(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        """Arguments as a payload; ArgumentsError where they do not fit."""
        given = self._named(args, kwargs) if args else kwargs
        try:
            model = self._arguments.__pydantic_validator__.validate_python(given)
        except ValidationError as error:
            raise ArgumentsError(self.kind, problems(error)) from None
        except TypeError as error:
            raise ArgumentsError(self.kind, str(error)) from None
        limit = self.app.settings.payload_limit_bytes
        write = self._arguments.__pydantic_serializer__
        if self._writes_canonical:
            return fitting(write.to_json(model), limit)
        return encode(write.to_python(model, mode="json"), limit)

    def _named(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        names = self._names
        if len(args) > len(names):
            raise ArgumentsError(self.kind, f"takes {len(names)} arguments, {len(args)} given")
        given = dict(zip(names, args, strict=False))
        if twice := given.keys() & kwargs.keys():
            raise ArgumentsError(self.kind, f"{sorted(twice)[0]!r} is given twice")
        return {**given, **kwargs}

    def unpack(self, payload: str) -> dict[str, Any]:
        """A stored payload as typed arguments; ArgumentsError where they do not fit."""
        if not self._names and payload == EMPTY:
            return {}
        try:
            bound: dict[str, Any] = self._validate_json(payload).__dict__
        except ValidationError as error:
            raise ArgumentsError(self.kind, problems(error)) from None
        return bound


@dataclass(frozen=True, slots=True)
class Bound(Generic[P]):
    """A handler with options for the next job."""

    handler: Handler[P]
    options: Options

    def using(self, **options: Unpack[Options]) -> Bound[P]:
        """More options on top."""
        return Bound(self.handler, {**self.options, **options})

    def new(self, *args: P.args, **kwargs: P.kwargs) -> NewJob:
        """A job to pass to `enqueue_many`."""
        if not PLACING.isdisjoint(self.options):
            raise OptionError("a job made with new() gets its tx in enqueue_many(..., tx=...)")
        return self._new(args, kwargs)

    def enqueue(self, *args: P.args, **kwargs: P.kwargs) -> JobRef:
        """Add a job; returns when it is durable, or with `tx` when it is in the transaction."""
        new = self._new(args, kwargs)
        return self.handler.app.enqueue_many([new], **place_of(self.options))[0]

    async def enqueue_async(self, *args: P.args, **kwargs: P.kwargs) -> JobRef:
        """The same from a coroutine."""
        new = self._new(args, kwargs)
        return (await self.handler.app.enqueue_many_async([new], **place_of(self.options)))[0]

    def _new(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> NewJob:
        handler = self.handler
        payload = handler.pack(args, kwargs)
        return described(handler.app, handler.kind, payload, self.options)


class Registry:
    """The handlers of one app, by kind."""

    def __init__(self) -> None:
        self._handlers: dict[str, Handler[Any]] = {}
        self.slots: dict[str, QueueSlots] = {}

    def include(self, feature: Feature) -> None:
        """A feature's handlers, and the slots of its queues where it says some."""
        for handler in feature.handlers:
            self.add(handler)
        self.slots.update(getattr(feature, "slots", {}))

    def give(self, queue: str, slots: int | None) -> None:
        """How many jobs of a queue each worker runs at a time, where the app says so."""
        if slots is not None:
            if type(slots) is not int or slots < 1:
                raise OptionError(f"a queue needs at least one slot, not {slots!r}")
            known = self.slots.get(queue, QueueSlots(slots))
            self.slots[queue] = replace(known, slots=slots)

    def add(self, handler: Handler[Any]) -> None:
        """One handler per kind."""
        if handler.kind in self._handlers:
            raise OptionError(f"{handler.kind!r} has a handler already")
        self._handlers[handler.kind] = handler

    def get(self, kind: str) -> Handler[Any] | None:
        """The handler, if this app has one."""
        return self._handlers.get(kind)

    def require(self, kind: str) -> Handler[Any]:
        """The handler, or an error that lists those there are."""
        found = self._handlers.get(kind)
        if found is None:
            raise UnknownKind(kind, list(self._handlers))
        return found

    def __iter__(self) -> Iterator[Handler[Any]]:
        return iter(self._handlers.values())

    @property
    def kinds(self) -> list[str]:
        """What this app can run."""
        return list(self._handlers)

    @property
    def queues(self) -> list[str]:
        """The queues its handlers are in."""
        return list(dict.fromkeys(handler.options.queue for handler in self))


def described(app: Tenure, kind: str, payload: str, options: Options) -> NewJob:
    """A job with what the caller says, else the handler, else the job or request served here."""
    here, made = origin.get(), _described(app, kind, payload, options)
    if here is None and app.tracing is None:
        return made
    found = _coming_from(app, here)
    return made._replace(**{name: value for name, value in found.items() if name not in options})


def _described(app: Tenure, kind: str, payload: str, options: Options) -> NewJob:
    handler, parent = app.handlers.get(kind), current_job.get()
    if handler is None:
        return _unplaced(app, kind, payload, options, parent)
    if parent is None and not options:
        return handler.template if payload == EMPTY else handler.template.with_payload(payload)
    if parent is None:
        return new_job(kind, payload, {**handler.defaults, **options})
    return new_job(kind, payload, {**handler.defaults, **_inherited(parent), **options})


def _unplaced(
    app: Tenure, kind: str, payload: str, options: Options, parent: RunningJob | None
) -> NewJob:
    """A kind that this app does not know: what is not given is marked, and left to its handler."""
    settings = app.settings
    known: Options = {"priority": settings.priority, "max_attempts": settings.max_attempts}
    if parent is not None:
        known.update(_inherited(parent))
    missing = sum(flag for flag in Unplaced if str(flag.name).lower() not in options)
    return new_job(kind, payload, {**known, **options})._replace(unplaced=missing)


def _coming_from(app: Tenure, here: Origin | None) -> dict[str, Any]:
    """The request's ids, unless a job is running here that has nothing to do with it."""
    traced = None if app.tracing is None else app.tracing.here()
    found = {"trace": traced}
    if here is not None and here.inside is current_job.get():
        found = {"correlation_id": here.correlation_id, "trace": traced or here.trace}
    return {name: value for name, value in found.items() if value is not None}


def _inherited(parent: RunningJob) -> Options:
    return {
        "correlation_id": parent.claimed.correlation_id,
        "trace": parent.claimed.trace,
        "enqueued_by": f"job:{parent.id}",
        "tenant": parent.tenant,
        "owner": parent.claimed.owner,
    }


def timeout_of(seconds: float | None, default: float) -> float:
    """How long a run may take."""
    if seconds is None:
        return default
    if not seconds > 0:
        raise OptionError(f"timeout must be a positive number of seconds, not {seconds!r}")
    return float(seconds)


def _check_place(handler: Handler[Any]) -> None:
    is_async = inspect.iscoroutinefunction(handler.function)
    if (handler.options.runs_in is RunsIn.LOOP) is not is_async:
        raise OptionError(
            f"the handler of {handler.kind!r}: async functions run on the loop, others do not"
        )
    if handler.options.runs_in is RunsIn.PROCESS and "<locals>" in handler.function.__qualname__:
        raise OptionError(
            f"the handler of {handler.kind!r} runs in a process: define it at top level"
        )
