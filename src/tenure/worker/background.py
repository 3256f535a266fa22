"""The only loops that wait and repeat: the jobs pipeline kept warm, the other runners beside it."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Sequence
from contextlib import suppress

from tenure.core.errors import StoreError, StoreUnavailable
from tenure.core.signals import Signals
from tenure.core.timing.budget import Budget
from tenure.core.timing.pace import Pace
from tenure.wakeups.due_jobs import EVERY_QUEUE, Complaints, Listener
from tenure.worker.ageing import EVERY_SECONDS, Lifter
from tenure.worker.pipeline import Pipeline
from tenure.worker.pruning import Pruner, in_daemon
from tenure.worker.settings import WorkerSettings
from tenure.worker.tick import Step, TickReport, tick
from tenure.worker.wake_timer import Alarm

FIRST_ERROR_PAUSE = 0.1
PRUNING_TURN = 0.2
PRUNING_REST = 4.0
LONGEST_DEAF = 30.0


async def keep_working(
    pipeline: Pipeline, settings: WorkerSettings, signals: Signals, poll_seconds: float
) -> None:
    """Turn after turn until told to stop; an idle one waits for a wake-up or the next poll."""
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
            await pipeline.change(_after_errors(errors, settings.pace))
            continue
        errors = 0
        signals.emit("turn.done", jobs=started, seconds=time.monotonic() - begun)
        if not started and not pipeline.stopping:
            rest = poll_seconds * (0.9 + random.random() / 5)  # noqa: S311
            await pipeline.change(rest)


def _after_errors(errors: int, pace: Pace) -> float:
    """A restart of the database is over in seconds; only a longer outage is worth patience."""
    return min(FIRST_ERROR_PAUSE * 2.0 ** min(errors - 1, 20), pace.after_error(random.random))


async def keep_listening(
    listener: Listener, alarm: Alarm, signals: Signals, stop: asyncio.Event
) -> None:
    """Hear the wake-ups of other processes, and again after a break; polling goes on anyway."""
    complaints, breaks = Complaints(signals), 0

    def begun() -> None:
        nonlocal breaks
        breaks = 0
        alarm.listening.add(listener)
        signals.emit("worker.listening")
        alarm.heard([EVERY_QUEUE])  # what was said meanwhile, nobody repeats

    while not stop.is_set():
        try:
            await listener.listen(alarm.heard, begun)
        except Exception as error:
            complaints.make(error, "listen")
        finally:
            alarm.listening.discard(listener)
        breaks += 1
        await pause(stop, min(FIRST_ERROR_PAUSE * 2.0 ** min(breaks - 1, 20), LONGEST_DEAF))


async def keep_ticking(
    steps: Sequence[Step], settings: WorkerSettings, signals: Signals, stop: asyncio.Event
) -> None:
    """The runners beside the jobs: soon after work, less and less often when idle."""
    idle = 0
    while steps and not stop.is_set():
        report = await tick(steps, settings)
        signals.emit("tick.done", report=report)
        idle = 0 if report.processed else idle + 1
        await pause(stop, _delay(report, idle, settings.pace))


async def keep_punctual(
    step: Step, settings: WorkerSettings, signals: Signals, stop: asyncio.Event
) -> None:
    """A runner that says when it is due: on time, whatever jobs and the other runners do."""
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
    """At most a fifth of the time while much is due, less and less often when nothing is."""
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


async def keep_lifting(lifter: Lifter, signals: Signals, stop: asyncio.Event) -> None:
    """What has waited too long, every few seconds; whether any queue wants that may change."""
    while not stop.is_set():
        await pause(stop, EVERY_SECONDS)
        if lifter.wanted and not stop.is_set():
            try:
                await in_daemon(lifter.turn)
            except Exception as error:
                signals.emit("worker.error", error=error, step="ageing")


async def pause(stop: asyncio.Event, seconds: float) -> None:
    """Wait, but not longer than until we are told to stop."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await stop.wait()
