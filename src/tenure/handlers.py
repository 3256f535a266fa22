"""Kind -> function and its options. A handler's arguments are bound and checked both ways."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Unpack

from pydantic import BaseModel, ValidationError

from tenure.arguments import arguments_model, problems
from tenure.core.errors import ArgumentsError, OptionError, UnknownKind
from tenure.core.job import NewJob
from tenure.core.retry import RetryPolicy
from tenure.options import Options, check_name
from tenure.running import RunningJob, current_job

if TYPE_CHECKING:
    from tenure.engine import JobRef, Tenure

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
        self._arguments = arguments_model(kind, function)
        self._validate_json = self._arguments.__pydantic_validator__.validate_json
        _check_place(self)

    def __call__(self, job: RunningJob, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Run the function itself, as in a test."""
        return self.function(job, *args, **kwargs)

    def using(self, **options: Unpack[Options]) -> Bound[P]:
        """The same handler with options: `render.using(key="inv:42", delay=60).enqueue(...)`."""
        return Bound(self, options)

    def new(self, *args: P.args, **kwargs: P.kwargs) -> NewJob:
        """A job to pass to `enqueue_many`."""
        return Bound(self, {}).new(*args, **kwargs)

    def enqueue(self, *args: P.args, **kwargs: P.kwargs) -> JobRef:
        """Add a job; returns when it is durable."""
        return Bound(self, {}).enqueue(*args, **kwargs)

    async def enqueue_async(self, *args: P.args, **kwargs: P.kwargs) -> JobRef:
        """The same from a coroutine."""
        return await Bound(self, {}).enqueue_async(*args, **kwargs)

    def pack(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Arguments as a JSON-ready payload; ArgumentsError where they do not fit."""
        names = list(self._arguments.model_fields)
        if len(args) > len(names):
            raise ArgumentsError(self.kind, f"takes {len(names)} arguments, {len(args)} given")
        given = dict(zip(names, args, strict=False))
        if twice := set(given) & set(kwargs):
            raise ArgumentsError(self.kind, f"{sorted(twice)[0]!r} is given twice")
        return self._checked({**given, **kwargs}).model_dump(mode="json")

    def unpack(self, payload: str) -> dict[str, Any]:
        """A stored payload as typed arguments; ArgumentsError where they do not fit."""
        try:
            bound: dict[str, Any] = self._validate_json(payload).__dict__
        except ValidationError as error:
            raise ArgumentsError(self.kind, problems(error)) from None
        return bound

    def _checked(self, values: dict[str, Any]) -> BaseModel:
        try:
            return self._arguments.model_validate(values)
        except ValidationError as error:
            raise ArgumentsError(self.kind, problems(error)) from None
        except TypeError as error:
            raise ArgumentsError(self.kind, str(error)) from None


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
        handler = self.handler
        return handler.app.new(handler.kind, handler.pack(args, kwargs), **self._without_tx())

    def enqueue(self, *args: P.args, **kwargs: P.kwargs) -> JobRef:
        """Add a job; returns when it is durable, or with `tx` when it is in the transaction."""
        handler = self.handler
        return handler.app.enqueue(handler.kind, handler.pack(args, kwargs), **self.options)

    async def enqueue_async(self, *args: P.args, **kwargs: P.kwargs) -> JobRef:
        """The same from a coroutine."""
        handler = self.handler
        payload = handler.pack(args, kwargs)
        return await handler.app.enqueue_async(handler.kind, payload, **self.options)

    def _without_tx(self) -> Options:
        if "tx" in self.options:
            raise OptionError("a job made with new() gets its tx in enqueue_many(..., tx=...)")
        return self.options


class Registry:
    """The handlers of one app, by kind."""

    def __init__(self) -> None:
        self._handlers: dict[str, Handler[Any]] = {}

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


def defaults(app: Tenure, kind: str) -> Options:
    """What the handler says, and the job that is running here: its tenant, its correlation."""
    handler = app.handlers.get(kind)
    found: Options = {
        "priority": app.settings.priority,
        "max_attempts": app.settings.max_attempts,
    }
    if handler is not None:
        found = {
            "queue": handler.options.queue,
            "priority": handler.options.priority,
            "max_attempts": handler.options.retry.attempts,
        }
    parent = current_job.get()
    if parent is not None:
        found["correlation_id"] = parent.claimed.correlation_id
        found["trace"] = parent.claimed.trace
        found["enqueued_by"] = f"job:{parent.id}"
        found["tenant"] = parent.tenant
    return found


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
