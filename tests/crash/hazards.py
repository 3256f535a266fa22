"""Handlers of the kill campaign: ordinary work, and jobs that bring their worker down.

What happens to a job is in its payload, so that a run can be told from its marks alone.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from typing import Any, Literal

from tenure import LeaseLost, RunningJob
from tests.crash.handlers import ADD_EFFECT, AT_ONCE, POLL_SECONDS, app, result
from tests.crash.marks import is_open, mark, open_gate, run_number_of

Moment = Literal["before", "within", "after"]
PATIENCE_SECONDS = 60.0


def start(job: RunningJob) -> None:
    mark("start", job=job.id, fence=job.fence, attempt=job.attempt)


def run_number(job: RunningJob) -> int:
    """Which start of its handler this is: a worker may die with jobs claimed that it never began,
    so it is not the attempt.
    """
    return run_number_of(job.id)


def die_if(condition: bool, job: RunningJob, moment: Moment) -> None:
    """The end of this process, from inside."""
    if condition:
        mark("kill", job=job.id, fence=job.fence, moment=moment)
        os.kill(os.getpid(), signal.SIGKILL)


@app.job("work.async", retry=AT_ONCE)
async def work_async(job: RunningJob, seconds: float) -> dict[str, Any]:
    start(job)
    await asyncio.sleep(seconds)
    return result(job)


@app.job("work.thread", retry=AT_ONCE)
def work_thread(job: RunningJob, seconds: float) -> dict[str, Any]:
    start(job)
    time.sleep(seconds)
    return result(job)


@app.job("effect.async", retry=AT_ONCE)
async def effect_async(job: RunningJob, seconds: float) -> None:
    start(job)
    await asyncio.sleep(seconds)
    async with job.settle(result=result(job)) as tx:
        await tx.execute(ADD_EFFECT, (int(job.id), job.fence))


@app.job("effect.thread", retry=AT_ONCE)
def effect_thread(job: RunningJob, seconds: float) -> None:
    start(job)
    time.sleep(seconds)
    with job.settle(result=result(job)) as tx:
        tx.execute(ADD_EFFECT, (int(job.id), job.fence))


@app.job("hazard.inside.thread", queue="hazard", retry=AT_ONCE)
def inside_thread(job: RunningJob, moment: Moment, times: int = 1) -> None:
    start(job)
    fatal = run_number(job) <= times
    die_if(fatal and moment == "before", job, moment)
    with job.settle(result=result(job)) as tx:
        tx.execute(ADD_EFFECT, (int(job.id), job.fence))
        die_if(fatal and moment == "within", job, moment)
    die_if(fatal and moment == "after", job, moment)


@app.job("hazard.inside.async", queue="hazard", retry=AT_ONCE)
async def inside_async(job: RunningJob, moment: Moment, times: int = 1) -> None:
    start(job)
    fatal = run_number(job) <= times
    die_if(fatal and moment == "before", job, moment)
    async with job.settle(result=result(job)) as tx:
        await tx.execute(ADD_EFFECT, (int(job.id), job.fence))
        die_if(fatal and moment == "within", job, moment)
    die_if(fatal and moment == "after", job, moment)


@app.job("hazard.outside.thread", queue="hazard", retry=AT_ONCE)
def outside_thread(job: RunningJob) -> None:
    """Waits for the harness to kill its process."""
    start(job)
    if run_number(job) == 1:
        mark("kill me", job=job.id, fence=job.fence)
        time.sleep(PATIENCE_SECONDS)
    with job.settle(result=result(job)) as tx:
        tx.execute(ADD_EFFECT, (int(job.id), job.fence))


@app.job("hazard.outside.async", queue="hazard", retry=AT_ONCE)
async def outside_async(job: RunningJob) -> dict[str, Any]:
    start(job)
    if run_number(job) == 1:
        mark("kill me", job=job.id, fence=job.fence)
        await asyncio.sleep(PATIENCE_SECONDS)
    return result(job)


@app.job("hazard.pause", queue="hazard", retry=AT_ONCE)
def pause(job: RunningJob) -> None:
    """The first run is paused past its lease and settles late; the second one waits for that."""
    start(job)
    if run_number(job) == 1:
        mark("pause me", job=job.id, fence=job.fence)
        _wait_at(f"paused-{job.id}", PATIENCE_SECONDS)
    else:
        _wait_at(f"late-{job.id}", PATIENCE_SECONDS / 15)
    try:
        with job.settle(result=result(job)) as tx:
            tx.execute(ADD_EFFECT, (int(job.id), job.fence))
    except LeaseLost:
        mark("refused", job=job.id, fence=job.fence)
        raise
    finally:
        open_gate(f"late-{job.id}")


def _wait_at(gate: str, seconds: float) -> None:
    begun = time.monotonic()
    while not is_open(gate) and time.monotonic() - begun < seconds:
        time.sleep(POLL_SECONDS)
