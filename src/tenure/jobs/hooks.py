"""What an app does around its workers and runs: start and stop hooks, middleware.

@app.on_worker_start
async def open_pool(worker): ...

@app.middleware
def timed(job):
    begun = time.monotonic()
    yield
    print(job.kind, time.monotonic() - begun)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from tenure.core.errors import OptionError, TenureError

Hook = TypeVar("Hook", bound=Callable[[Any], Any])
Around = TypeVar("Around", bound=Callable[..., Any])


class WorkerStartFailed(TenureError):
    """A worker did not start because a start hook or the lifespan of a feature raised."""

    code = "worker_start_failed"

    def __init__(self, what: str, error: BaseException) -> None:
        super().__init__(f"the worker did not start: {what} raised {type(error).__name__}: {error}")


@dataclass(frozen=True, slots=True)
class Middleware:
    """A context manager around each run. `manager(job)` makes it."""

    manager: Callable[..., Any]
    is_async: bool


class Hooks:
    """The hooks and the middleware of one app, in the order of their registration."""

    def __init__(self) -> None:
        self.start: list[Callable[[Any], Any]] = []
        self.stop: list[Callable[[Any], Any]] = []
        # Tuples, empty for most apps: a run only has to ask whether there are any.
        self.all_middleware: tuple[Middleware, ...] = ()
        self.plain_middleware: tuple[Middleware, ...] = ()
        self.async_middleware: tuple[Middleware, ...] = ()

    def on_worker_start(self, function: Hook) -> Hook:
        """Call `function(worker)` in each worker before its first claim.

        An async function is awaited on the worker's loop, a plain one is called in a thread. If it
        raises, the worker does not start.
        """
        self.start.append(_checked("on_worker_start", function))
        return function

    def on_worker_stop(self, function: Hook) -> Hook:
        """Call `function(worker)` in each worker after its last job is settled.

        If it raises, that is logged, and the other hooks still run.
        """
        self.stop.append(_checked("on_worker_stop", function))
        return function

    def middleware(self, function: Around) -> Around:
        """Run every handler inside this: a function of the job, plain or async, that yields once.

        The first one registered is the outermost.
        """
        made = _middleware(function)
        self.all_middleware += (made,)
        self.plain_middleware = tuple(one for one in self.all_middleware if not one.is_async)
        self.async_middleware = tuple(one for one in self.all_middleware if one.is_async)
        return function


def _checked(where: str, function: Hook) -> Hook:
    """OptionError for what would fail, or do nothing, in a worker that starts or stops."""
    inner = inspect.unwrap(function)
    if inspect.isgeneratorfunction(inner) or inspect.isasyncgenfunction(inner):
        raise OptionError(f"{where} calls a function of the worker; {function!r} yields instead")
    _check_arguments(where, "worker", function)
    return function


def _check_arguments(where: str, what: str, function: Callable[..., Any]) -> None:
    """OptionError unless the function can be called with exactly one argument."""
    if not callable(function):
        raise OptionError(f"{where} takes a function of the {what}, not {function!r}")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some callables written in C have none
        return
    try:
        signature.bind(object())
    except TypeError as error:
        name = getattr(function, "__qualname__", repr(function))
        raise OptionError(
            f"{where} calls {name}({what}), but it is {name}{signature}: {error}"
        ) from None


def _middleware(function: Callable[..., Any]) -> Middleware:
    """A generator function, or one that is decorated with (async)contextmanager already."""
    _check_arguments("middleware", "job", function)
    inner = inspect.unwrap(function)
    decorated = inner is not function
    if inspect.isasyncgenfunction(inner):
        return Middleware(function if decorated else asynccontextmanager(function), is_async=True)
    if inspect.isgeneratorfunction(inner):
        return Middleware(function if decorated else contextmanager(function), is_async=False)
    raise OptionError(
        f"middleware is a function of the job that yields once; {function!r} does not yield"
    )
