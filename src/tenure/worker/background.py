"""The loops of a worker in the background: jobs, and the other runners beside them.

Only these loops wait and repeat; everything that they call does one turn and returns.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from tenure.core.errors import StoreError, StoreUnavailable
from tenure.core.signals import Signals
from tenure.core.timing.budget import Budget
from tenure.core.timing.pace import Pace
from tenure.wakeups.due_jobs import EVERY_QUEUE, Complaints, Listener
from tenure.worker.assignment import JOBS
from tenure.worker.claiming.wake_timer import WakeTimer
from tenure.worker.pipeline import Pipeline
from tenure.worker.running.threads import in_daemon
from tenure.worker.session import working
from tenure.worker.settings import WorkerSettings
from tenure.worker.tick import TickReport, TickStep, tick
from tenure.worker.tick_steps import steps_of
from tenure.worker.upkeep.ageing import EVERY_SECONDS, Ageing
from tenure.worker.upkeep.pruning import PRUNING, Pruner
from tenure.worker.upkeep.rollups import FLUSH_SECONDS, Rollups

if TYPE_CHECKING:
    from tenure.worker.worker import Worker

FIRST_ERROR_PAUSE = 0.1
PRUNING_TURN = 0.2
# Four times as long as a turn: at most a fifth of the time is spent on pruning.
PRUNING_REST = 4.0
LONGEST_DEAF = 30.0
LOOPS_END_SECONDS = 5.0
# A turn of pruning that is under way may be cut off: the next one goes on from there.
PRUNING_ENDS_SECONDS = 1.0


async def work_until_stopped(worker: Worker, started: Callable[[], None]) -> None:
    """Work until the worker is asked to stop; `started` is called when all loops run."""
    stop, signals = worker.stop_request, worker.app.signals
    async with working(worker) as pipeline:
        for listener in worker.app.store.wakeups.listeners:
            await listener.check()
        loops = _start_loops(worker, pipeline)
        pruning = asyncio.ensure_future(_keep_pruning(worker, pipeline))
        listening = _start_listening(worker, pipeline)
        started()
        try:
            await stop.stop.wait()
        finally:
            stop.stop.set()
            signals.emit("worker.stopping", id=worker.id, running=pipeline.running)
            pipeline.stop()
            for one in listening:
                one.cancel()
            await asyncio.wait({*loops, *listening}, timeout=LOOPS_END_SECONDS)
            await asyncio.wait({pruning}, timeout=PRUNING_ENDS_SECONDS)


def _start_loops(worker: Worker, pipeline: Pipeline) -> list[asyncio.Future[None]]:
    """A loop for the jobs, one for each punctual runner, one for all other runners together."""
    app, settings, stop = worker.app, worker.settings, worker.stop_request.stop
    others = [step for step in steps_of(worker, pipeline) if step.name not in (JOBS, PRUNING)]
    patient = [step for step in others if step.due_in is None]
    loops = [
        keep_working(pipeline, settings, app.signals, app.settings.poll_seconds),
        keep_ticking(patient, settings, app.signals, stop),
        keep_lifting(worker.ageing, app.signals, stop),
        keep_rolling_up(pipeline.rollups, app.signals, stop),
        *(keep_punctual(step, settings, app.signals, stop) for step in others),
    ]
    return [asyncio.ensure_future(loop) for loop in loops]


def _start_listening(worker: Worker, pipeline: Pipeline) -> list[asyncio.Future[None]]:
    timer, app, stop = pipeline.wake_timer, worker.app, worker.stop_request.stop
    return [
        asyncio.ensure_future(keep_listening(one, timer, app.signals, stop))
        for one in app.store.wakeups.listeners
    ]


async def _keep_pruning(worker: Worker, pipeline: Pipeline) -> None:
    stop = worker.stop_request.stop
    if any(step.name == PRUNING for step in steps_of(worker, pipeline)):
        pruner = Pruner(worker.app, worker.id, stop.is_set)
        await keep_pruning(pruner, worker.settings.pace, worker.app.signals, stop)


async def keep_working(
    pipeline: Pipeline, settings: WorkerSettings, signals: Signals, poll_seconds: float
) -> None:
    """Turn after turn until told to stop. An idle worker waits for a wake-up or the next poll."""
    errors = 0
    while not pipeline.stopping:
        budget, begun = Budget(seconds=settings.tick_runner_max_ms / 1000), time.monotonic()
        try:
            started = await pipeline.turn(budget)
        except Exception as error:
            errors += 1
            known = isinstance(error, StoreUnavailable)
            signals.emit(
                "store.unavailable" if known else "worker.error", error=error, step="claim"
            )
            await pipeline.changes.wait(_after_errors(errors, settings.pace))
            continue
        errors = 0
        signals.emit("turn.done", jobs=started, seconds=time.monotonic() - begun)
        if not started and not pipeline.stopping:
            # A little at random, so that the workers of a fleet do not all poll at once.
            rest = poll_seconds * (0.9 + random.random() / 5)  # noqa: S311
            await pipeline.changes.wait(rest)


def _after_errors(errors: int, pace: Pace) -> float:
    """Short pauses first: a restart of the database is over in seconds."""
    return min(FIRST_ERROR_PAUSE * 2.0 ** min(errors - 1, 20), pace.after_error(random.random))


async def keep_listening(
    listener: Listener, timer: WakeTimer, signals: Signals, stop: asyncio.Event
) -> None:
    """Listen to the wake-ups of other processes; connect again after a break. Polling goes on."""
    complaints, breaks = Complaints(signals), 0

    def begun() -> None:
        nonlocal breaks
        breaks = 0
        timer.listening.add(listener)
        signals.emit("worker.listening")
        timer.heard([EVERY_QUEUE])  # wake-ups that were missed before are not repeated

    while not stop.is_set():
        try:
            await listener.listen(timer.heard, begun)
        except Exception as error:
            complaints.make(error, "listen")
        finally:
            timer.listening.discard(listener)
        breaks += 1
        await pause(stop, min(FIRST_ERROR_PAUSE * 2.0 ** min(breaks - 1, 20), LONGEST_DEAF))


async def keep_ticking(
    steps: Sequence[TickStep], settings: WorkerSettings, signals: Signals, stop: asyncio.Event
) -> None:
    """The other runners: soon again after work, less and less often while idle."""
    idle = 0
    while steps and not stop.is_set():
        report = await tick(steps, settings)
        signals.emit("tick.done", report=report)
        idle = 0 if report.processed else idle + 1
        await pause(stop, _delay(report, idle, settings.pace))


async def keep_punctual(
    step: TickStep, settings: WorkerSettings, signals: Signals, stop: asyncio.Event
) -> None:
    """A runner that says when it is due: on time, whatever jobs and other runners do."""
    errors, pace = 0, settings.pace
    while step.due_in is not None and not stop.is_set():
        report = await tick([step], settings)
        signals.emit("tick.done", report=report)
        try:
            rest = step.due_in()
        except Exception as error:
            signals.emit("worker.error", error=error, step=step.name)
            rest = pace.after_error(random.random)
        errors = errors + 1 if report.failed else 0
        await pause(stop, min(rest, _after_errors(errors, pace)) if errors else rest)


def _delay(report: TickReport, idle: int, pace: Pace) -> float:
    if report.failed:
        return pace.after_error(random.random)
    if report.processed:
        return pace.after_work(random.random)
    return pace.after_idle(idle, random.random)


async def keep_pruning(pruner: Pruner, pace: Pace, signals: Signals, stop: asyncio.Event) -> None:
    """A fifth of the time while much is due, less and less often while nothing is."""
    idle = 1
    await pause(stop, pace.after_idle(idle, random.random))
    while not stop.is_set():
        begun = time.monotonic()
        try:
            removed = await in_daemon(pruner.turn, Budget(seconds=PRUNING_TURN))
        except Exception as error:
            signals.emit("worker.error", error=error, step="pruning")
            rest = pace.after_error(random.random)
        else:
            idle = 1 if removed else idle + 1
            rest = pace.after_idle(idle, random.random)
            if pruner.behind:
                rest = (time.monotonic() - begun) * PRUNING_REST
        await pause(stop, rest)
    with suppress(StoreError):
        await in_daemon(pruner.release)


async def keep_lifting(ageing: Ageing, signals: Signals, stop: asyncio.Event) -> None:
    """Lift jobs that waited too long, every few seconds. Operators may change which queues age."""
    while not stop.is_set():
        await pause(stop, EVERY_SECONDS)
        if ageing.wanted and not stop.is_set():
            try:
                await in_daemon(ageing.turn)
            except Exception as error:
                signals.emit("worker.error", error=error, step="ageing")


async def keep_rolling_up(rollups: Rollups, signals: Signals, stop: asyncio.Event) -> None:
    """Add to the charts what this worker has counted, every few seconds."""
    while rollups.wanted and not stop.is_set():
        await pause(stop, FLUSH_SECONDS)
        try:
            await in_daemon(rollups.flush)
        except Exception as error:
            known = isinstance(error, StoreUnavailable)
            signals.emit(
                "store.unavailable" if known else "worker.error", error=error, step="rollups"
            )


async def pause(stop: asyncio.Event, seconds: float) -> None:
    """Wait this long, or until told to stop."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await stop.wait()
