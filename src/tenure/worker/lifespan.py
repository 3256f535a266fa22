"""What lives as long as a worker: the app's start and stop hooks, the lifespans of its features."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any

from tenure.feature import Feature
from tenure.jobs.hooks import WorkerStartFailed

if TYPE_CHECKING:
    from tenure.worker.worker import Worker

Entered = list[tuple[str, AbstractAsyncContextManager[Any]]]


@asynccontextmanager
async def lifespan(worker: Worker) -> AsyncIterator[None]:
    """Enter the lifespans of features, then call the start hooks; at the end, the other way round.

    Hooks run inside the lifespans because they are the app's own code, and may use its features.
    """
    entered: Entered = []
    try:
        await _enter_features(worker, entered)
        for hook in worker.app.hooks.start:
            await _start(f"the start hook {_name(hook)!r}", _call(hook, worker))
        try:
            yield
        finally:
            for hook in worker.app.hooks.stop:
                await _stop(worker, f"stop hook {_name(hook)}", _call(hook, worker))
    finally:
        for name, manager in reversed(entered):
            await _stop(worker, f"lifespan of {name}", manager.__aexit__(None, None, None))


async def _enter_features(worker: Worker, entered: Entered) -> None:
    for feature in worker.app.features:
        what = f"the lifespan of the feature {feature.name!r}"
        entered.append((feature.name, await _start(what, _enter(feature, worker))))


async def _enter(feature: Feature, worker: Worker) -> AbstractAsyncContextManager[Any]:
    manager: AbstractAsyncContextManager[Any] = feature.lifespan(worker)
    await manager.__aenter__()
    return manager


async def _call(hook: Callable[[Any], Any], worker: Worker) -> None:
    if inspect.iscoroutinefunction(hook):
        await hook(worker)
        return
    # A plain hook may block, and the loop may be that of a web application.
    found = await asyncio.to_thread(hook, worker)
    if inspect.isawaitable(found):  # a plain callable around an async one
        await found


async def _start(what: str, action: Any) -> Any:
    try:
        return await action
    except Exception as error:
        raise WorkerStartFailed(what, error) from error


async def _stop(worker: Worker, what: str, action: Any) -> None:
    """Whatever it raises, the others still get their turn."""
    try:
        await action
    except Exception as error:
        worker.app.signals.emit("worker.error", error=error, step=what)


def _name(hook: Callable[[Any], Any]) -> str:
    return str(getattr(hook, "__qualname__", hook))
