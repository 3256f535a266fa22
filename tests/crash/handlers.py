"""The app of the programs that these tests start, stop, pause and kill.

A handler leaves a mark when it starts and waits at a gate that the test opens: `gate` for every
run, `gate.2` for the run under fence 2 alone.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tenure import Delays, RunningJob, Tenure
from tests.crash.marks import is_open, mark

POLL_SECONDS = 0.01
AT_ONCE = Delays(*[0.0] * 20)
PLACEHOLDER = "?" if os.environ["TENURE_DATABASE_URL"].startswith("sqlite") else "%s"
ADD_EFFECT = f"INSERT INTO crash_effects (job_id, fence) VALUES ({PLACEHOLDER}, {PLACEHOLDER})"  # noqa: S608
QUIET = {"jobs.enqueued", "jobs.claimed", "jobs.settled", "tick.done", "turn.done"}

app = Tenure()
app.signals.subscribe(
    lambda name, facts: None if name in QUIET else mark(name, **{**facts, "job": facts.get("id")})
)


@contextmanager
def run_of(job: RunningJob, news: bool = True) -> Iterator[None]:
    """Marks how a run begins and how the handler leaves it; says so in its news too."""
    facts = {"job": job.id, "fence": job.fence, "attempt": job.attempt}
    mark("start", **facts)
    if news:
        job.progress(0.1, f"run {job.fence}")
        job.log(f"run {job.fence} starts")
    try:
        yield
    except BaseException as error:
        mark("stopped", error=type(error).__name__, **facts)
        raise
    if news:
        job.progress(0.9, f"run {job.fence}")
        job.log(f"run {job.fence} ends")
    mark("end", **facts)


def waits(job: RunningJob, gate: str) -> bool:
    """Whether the run is still to wait."""
    return not (is_open(gate) or is_open(f"{gate}.{job.fence}"))


def result(job: RunningJob) -> dict[str, Any]:
    """Which run it was that ended the job."""
    return {"fence": job.fence, "pid": os.getpid()}


@app.job("quick", retry=AT_ONCE)
def quick(job: RunningJob) -> dict[str, Any]:
    with run_of(job):
        return result(job)


@app.job("hold.async", retry=AT_ONCE)
async def hold_async(job: RunningJob, gate: str) -> dict[str, Any]:
    with run_of(job):
        while waits(job, gate):
            await asyncio.sleep(POLL_SECONDS)
        return result(job)


@app.job("hold.thread", retry=AT_ONCE)
def hold_thread(job: RunningJob, gate: str, heed: bool = True) -> dict[str, Any] | None:
    with run_of(job):
        while waits(job, gate):
            if heed and job.canceled:
                mark("noticed", job=job.id, fence=job.fence)
                return None
            time.sleep(POLL_SECONDS)
        return result(job)


@app.job("hold.process", retry=AT_ONCE, runs_in="process")
def hold_process(job: RunningJob, gate: str) -> dict[str, Any]:
    with run_of(job), subprocess.Popen(["sleep", "1000"]) as grandchild:
        mark("grandchild", job=job.id, fence=job.fence, pid=grandchild.pid)
        while waits(job, gate):
            time.sleep(POLL_SECONDS)
        grandchild.kill()
        return result(job)


brief_async = app.job("brief.async", retry=AT_ONCE, timeout=0.5)(hold_async.function)
brief_thread = app.job("brief.thread", queue="brief", retry=AT_ONCE, timeout=0.5)(
    hold_thread.function
)
brief_process = app.job("brief.process", retry=AT_ONCE, timeout=2.0, runs_in="process")(
    hold_process.function
)


@app.job("hold.loop", retry=AT_ONCE)
async def hold_loop(job: RunningJob, gate: str) -> dict[str, Any]:
    """What an async handler must not do: nothing else runs on the loop meanwhile."""
    with run_of(job):
        while waits(job, gate):
            time.sleep(POLL_SECONDS)
        return result(job)


@app.job("settle.thread", retry=AT_ONCE)
def settle_thread(job: RunningJob, gate: str) -> None:
    with run_of(job, news=False), job.settle(result=result(job)) as tx:
        tx.execute(ADD_EFFECT, (int(job.id), job.fence))
        mark("settling", job=job.id)
        while waits(job, gate):
            time.sleep(POLL_SECONDS)


@app.job("settle.async", retry=AT_ONCE)
async def settle_async(job: RunningJob, gate: str) -> None:
    with run_of(job, news=False):
        async with job.settle(result=result(job)) as tx:
            await tx.execute(ADD_EFFECT, (int(job.id), job.fence))
            mark("settling", job=job.id)
            while waits(job, gate):
                await asyncio.sleep(POLL_SECONDS)


brief_settle = app.job("brief.settle", retry=AT_ONCE, timeout=0.5)(settle_async.function)


@app.job("after.async", retry=AT_ONCE)
async def after_async(job: RunningJob, gate: str) -> None:
    with run_of(job, news=False):
        async with job.settle(result=result(job)) as tx:
            await tx.execute(ADD_EFFECT, (int(job.id), job.fence))
        while waits(job, gate):
            await asyncio.sleep(POLL_SECONDS)


@app.job("after.process", retry=AT_ONCE, runs_in="process")
def after_process(job: RunningJob, gate: str) -> None:
    with run_of(job, news=False):
        with job.settle(result=result(job)) as tx:
            tx.execute(ADD_EFFECT, (int(job.id), job.fence))
        while waits(job, gate):
            time.sleep(POLL_SECONDS)


def charge(job_id: str, fence: int) -> int:
    """What must happen once, however often its worker dies."""
    mark("charged", job=job_id, fence=fence)
    return fence


@app.job("step.async", retry=AT_ONCE)
async def step_async(job: RunningJob, gate: str) -> int:
    with run_of(job, news=False):
        charged: int = await job.step_async("charge", charge, job.id, job.fence)
        mark("stepped", job=job.id, fence=job.fence)
        while waits(job, gate):
            await asyncio.sleep(POLL_SECONDS)
        return charged


@app.job("step.thread", retry=AT_ONCE)
def step_thread(job: RunningJob, gate: str) -> int:
    with run_of(job, news=False):
        charged: int = job.step("charge", charge, job.id, job.fence)
        mark("stepped", job=job.id, fence=job.fence)
        while waits(job, gate):
            time.sleep(POLL_SECONDS)
        return charged


@app.job("step.process", retry=AT_ONCE, runs_in="process")
def step_process(job: RunningJob, gate: str) -> int:
    return int(step_thread.function(job, gate))
