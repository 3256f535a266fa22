"""Kind -> function and its options. A handler's arguments are bound and checked both ways."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Unpack

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from tenure.core.errors import ArgumentsError, OptionError, UnknownKind
from tenure.core.job import NewJob
from tenure.core.retry import RetryPolicy
from tenure.options import Options, check_name
from tenure.running import RunningJob

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
        self._arguments = _arguments_model(kind, function)
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

    def unpack(self, payload: Any) -> dict[str, Any]:
        """A stored payload as typed arguments; ArgumentsError where they do not fit."""
        if not isinstance(payload, dict):
            raise ArgumentsError(
                self.kind, f"the payload is {type(payload).__name__}, not an object"
            )
        model = self._checked(payload)
        return {name: getattr(model, name) for name in self._arguments.model_fields}

    def _checked(self, values: dict[str, Any]) -> BaseModel:
        try:
            return self._arguments.model_validate(values)
        except ValidationError as error:
            raise ArgumentsError(self.kind, _problems(error)) from None
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


def _arguments_model(kind: str, function: Callable[..., Any]) -> type[BaseModel]:
    """A pydantic model of the function's parameters after the job."""
    parameters = list(inspect.signature(function, eval_str=True).parameters.values())
    if not parameters:
        raise OptionError(f"the handler of {kind!r} takes no argument; its first one is the job")
    fields: dict[str, Any] = {}
    for parameter in parameters[1:]:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise OptionError(f"the handler of {kind!r} may not take *args or **kwargs")
        annotated = Any if parameter.annotation is parameter.empty else parameter.annotation
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = (annotated, default)
    config = ConfigDict(
        extra="forbid", arbitrary_types_allowed=False, protected_namespaces=(),
        ser_json_inf_nan="constants",
    )  # fmt: skip
    return create_model(f"Arguments of {kind}", __config__=config, **fields)


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


def _problems(error: ValidationError) -> str:
    """Each problem with its place; values are not repeated, they may be secret."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    return "; ".join(f"{'.'.join(map(str, one['loc'])) or 'value'}: {one['msg']}" for one in found)
