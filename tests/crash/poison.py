"""The app of the poison campaign: many innocent jobs, and a few that kill whatever runs them."""

from __future__ import annotations

import asyncio
import os
import signal
import time

from tenure import RunningJob, Tenure

SECONDS = 0.2
app = Tenure()


@app.job("innocent.async")
async def innocent_async(job: RunningJob) -> None:
    await asyncio.sleep(SECONDS)


@app.job("innocent.thread")
def innocent_thread(job: RunningJob) -> None:
    time.sleep(SECONDS)


@app.job("poison.kill")
def poison_kill(job: RunningJob) -> None:
    """As the kernel does when memory is short."""
    time.sleep(SECONDS / 2)
    os.kill(os.getpid(), signal.SIGKILL)


@app.job("poison.abort")
async def poison_abort(job: RunningJob) -> None:
    """As a library in C does, and before anybody knows that it has begun."""
    os.abort()
