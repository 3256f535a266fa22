"""Runs a handler inside the app's middleware.

Plain middleware is entered where the handler runs: on the loop, in its thread, or in its process.
Async middleware is entered on a loop: the handler's own, or the worker's around a plain handler.
Middleware that swallows the handler's error makes the run succeed with no result.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack, ExitStack
from typing import TYPE_CHECKING, Any

from tenure.jobs.handler import Handler
from tenure.jobs.hooks import Hooks, Middleware
from tenure.jobs.running_job import RunningJob
from tenure.worker.running.ending import HandlerExit

if TYPE_CHECKING:
    from tenure.worker.running.run import Run, Starter


def call_inside(job: RunningJob, arguments: dict[str, Any], handler: Handler[Any]) -> Any:
    """Call a plain handler inside the plain middleware."""
    with ExitStack() as stack:
        for one in handler.app.hooks.plain_middleware:
            stack.enter_context(one.manager(job))
        return handler.function(job, **arguments)


async def await_inside(job: RunningJob, arguments: dict[str, Any], handler: Handler[Any]) -> Any:
    """Await an async handler inside all middleware."""
    async with AsyncExitStack() as stack:
        await _enter(stack, handler.app.hooks.all_middleware, job)
        return await handler.function(job, **arguments)


def start_inside(hooks: Hooks, start: Starter) -> Starter:
    """The same starter, inside the app's async middleware if a plain handler is started."""
    if not hooks.async_middleware:
        return start

    def start_task(run: Run, arguments: dict[str, Any]) -> asyncio.Future[Any]:
        if run.handler.on_loop:  # a suspect: its process enters all of them
            return start(run, arguments)
        task = asyncio.get_running_loop().create_task(_inside(hooks, start, run, arguments))
        run.stop = task.cancel
        return task

    return start_task


async def _inside(hooks: Hooks, start: Starter, run: Run, arguments: dict[str, Any]) -> Any:
    try:
        async with AsyncExitStack() as stack:
            await _enter(stack, hooks.async_middleware, run.job)
            run.stop = None  # from now on the starter says whether and how it can be stopped
            return await start(run, arguments)
    except (SystemExit, KeyboardInterrupt) as error:
        raise HandlerExit(repr(error)) from None  # a task would end the whole loop with it


async def _enter(stack: AsyncExitStack, middleware: Sequence[Middleware], job: RunningJob) -> None:
    for one in middleware:
        if one.is_async:
            await stack.enter_async_context(one.manager(job))
        else:
            stack.enter_context(one.manager(job))
