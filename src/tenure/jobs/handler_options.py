"""The options of `@app.job(...)` and `@jobs.job(...)`: as declared, and as they hold in an app."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, TypedDict

from tenure.core.errors import OptionError
from tenure.core.rules.limits import Limit, check_limit
from tenure.core.rules.retry import Exponential, RetryPolicy
from tenure.jobs.options import check_name
from tenure.settings import Settings


class RunsIn(StrEnum):
    """Where a handler runs."""

    LOOP = "loop"
    THREAD = "thread"
    PROCESS = "process"


class JobOptions(TypedDict, total=False):
    """The keyword arguments of the decorator.

    `queue`: the queue of its jobs, "default" if none is given. `timeout`: seconds that a run may
    take. `retry`: the retry policy. `runs_in="process"`: each run gets a process of its own;
    otherwise `async def` runs on the event loop and `def` in a thread. `priority`: a small number
    goes first. `limit`, `key_limit`: how many run at a time, in the fleet or per limit key.
    """

    queue: str
    timeout: float | None
    retry: RetryPolicy | None
    runs_in: Literal["process"] | None
    priority: int | None
    limit: Limit | None
    key_limit: Limit | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HandlerOptions:
    """The options of a handler in an app: nothing is left open."""

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


def options_in(
    settings: Settings, function: Callable[..., Any], said: JobOptions
) -> HandlerOptions:
    """The declared options, with the defaults of an app for those that were left out."""
    timeout, priority = said.get("timeout"), said.get("priority")
    return HandlerOptions(
        queue=said.get("queue", "default"),
        timeout=settings.timeout_seconds if timeout is None else float(timeout),
        retry=said.get("retry") or Exponential(attempts=settings.max_attempts),
        runs_in=where_it_runs(function, said),
        priority=settings.priority if priority is None else priority,
        limit=said.get("limit"),
        key_limit=said.get("key_limit"),
    )


def check_declared(kind: str, said: JobOptions) -> None:
    """Refuse wrong options where the decorator is called, before there is a function or an app."""
    if unknown := said.keys() - JobOptions.__optional_keys__:
        known = ", ".join(sorted(JobOptions.__optional_keys__))
        raise OptionError(f"a job has no option {sorted(unknown)[0]!r}; there are: {known}")
    check_name("kind", kind)
    check_name("queue", said.get("queue", "default"))
    if said.get("runs_in") not in (None, RunsIn.PROCESS):
        raise OptionError(f'runs_in must be "process" or None, not {said["runs_in"]!r}')
    timeout = said.get("timeout")
    if timeout is not None and not timeout > 0:
        raise OptionError(f"timeout must be a positive number of seconds, not {timeout!r}")
    for limit in (said.get("limit"), said.get("key_limit")):
        if limit is not None:
            check_limit(limit)


def check_function(kind: str, function: Callable[..., Any], runs_in: RunsIn) -> None:
    """Refuse a function that cannot run where its options say."""
    if (runs_in is RunsIn.LOOP) is not inspect.iscoroutinefunction(function):
        raise OptionError(
            f"the handler of {kind!r}: async functions run on the event loop, others do not"
        )
    if runs_in is RunsIn.PROCESS and "<locals>" in function.__qualname__:
        # The child process finds the handler by importing its module.
        raise OptionError(f"the handler of {kind!r} runs in a process: define it at top level")


def where_it_runs(function: Callable[..., Any], said: JobOptions) -> RunsIn:
    """The event loop for `async def`, a thread for `def`, a process where that is declared."""
    if said.get("runs_in") is not None:
        return RunsIn.PROCESS
    return RunsIn.LOOP if inspect.iscoroutinefunction(function) else RunsIn.THREAD
