"""A worker from its first claim to its last settlement: hooks, sign-in, heartbeat, pipeline."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from tenure.core.timing.budget import Budget
from tenure.stores.contract import Capability, Store
from tenure.worker.lifespan import lifespan
from tenure.worker.pipeline import Pipeline
from tenure.worker.registration import Registration
from tenure.worker.settling.heartbeat import Heartbeat
from tenure.worker.tick import TickReport, patience, tick, whole_budget
from tenure.worker.tick_steps import run_jobs, steps_of_one_tick

if TYPE_CHECKING:
    from tenure.worker.worker import Worker


@asynccontextmanager
async def working(
    worker: Worker, finishing: Callable[[], float] | None = None
) -> AsyncIterator[Pipeline]:
    """A pipeline at work. However the block ends, its jobs are finished or given back.

    `finishing` returns how long jobs may still run at the end; by default the setting says.
    """
    worker.stop_request.begin()  # before the hooks, so that a stop during a slow one counts
    async with lifespan(worker):
        pipeline = Pipeline(
            worker.app, worker.id, worker.slots, worker.assignment, worker.isolation
        )
        async with _signed_in(worker, pipeline):
            try:
                yield pipeline
            finally:
                seconds = (
                    worker.settings.shutdown_timeout_ms / 1000 if finishing is None else finishing()
                )
                await pipeline.drain(seconds, worker.stop_request.hurry)
                await asyncio.to_thread(pipeline.rollups.flush_quietly)


@asynccontextmanager
async def _signed_in(worker: Worker, pipeline: Pipeline) -> AsyncIterator[None]:
    """In the list of workers, with a heartbeat, and woken up by this process's own jobs."""
    app, registration = worker.app, Registration(worker, pipeline)
    heartbeat = Heartbeat(
        app.store, app.signals, pipeline.held, worker.assignment, registration.sign_in
    )
    unsubscribe = app.store.wakeups.subscribe(pipeline.wake_timer.heard)
    forget_holds = _heed_holds(app.store, pipeline)
    await asyncio.to_thread(registration.begin)
    app.signals.emit("worker.started", id=worker.id, slots=worker.slots.capacity, pipeline=pipeline)
    heartbeat.start()
    try:
        yield
    finally:
        unsubscribe()
        forget_holds()
        # The heartbeat ends last: it keeps the leases while the last jobs finish.
        await asyncio.to_thread(heartbeat.stop)
        await asyncio.to_thread(registration.end)
        pipeline.close()
        app.signals.emit("worker.stopped", id=worker.id)


def _heed_holds(store: Store, pipeline: Pipeline) -> Callable[[], None]:
    if Capability.LIMITS not in store.capabilities:
        return lambda: None
    return store.gates.subscribe(pipeline.hold)


async def one_tick(worker: Worker) -> TickReport:
    """Every runner once, within the budgets of the settings."""
    overall = whole_budget(worker.settings)
    async with working(worker, lambda: patience(overall, worker.settings)) as pipeline:
        stopping = asyncio.ensure_future(_cut_short(worker, overall, pipeline))
        try:
            report = await tick(steps_of_one_tick(worker, pipeline), worker.settings, overall)
        except BaseException:  # cancelled: whoever asked for the tick has left
            overall.stop()
            raise
        finally:
            stopping.cancel()
        worker.app.signals.emit("tick.done", report=report)
        return report


async def until_idle(worker: Worker) -> int:
    """Run what is due, and what that enqueues, until nothing is."""
    async with working(worker) as pipeline:
        return await run_jobs(pipeline, Budget())


async def _cut_short(worker: Worker, overall: Budget, pipeline: Pipeline) -> None:
    """A tick that is asked to stop begins nothing more."""
    await worker.stop_request.stop.wait()
    overall.stop()
    pipeline.stop()
