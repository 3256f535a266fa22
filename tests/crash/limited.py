"""Limited kinds for programs that are killed: a few at a time, so many a second."""

from __future__ import annotations

import asyncio

from tenure import Limit, RunningJob
from tests.crash.handlers import AT_ONCE, app
from tests.crash.marks import is_open, mark

RUNNING = 3
RATE = 100
BURST = 10


@app.job("narrow", retry=AT_ONCE, limit=Limit(running=RUNNING))
async def narrow(job: RunningJob) -> None:
    mark("inside", job=job.id, fence=job.fence)
    while not is_open("narrow"):
        await asyncio.sleep(0.01)


@app.job("paced", retry=AT_ONCE, limit=Limit(rate=RATE, burst=BURST))
async def paced(job: RunningJob) -> None:
    return None
