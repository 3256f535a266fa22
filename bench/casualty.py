"""The app of `bench-recovery`: each run tells where it runs, in one line of a file."""

from __future__ import annotations

import asyncio
import os
import time

from tenure import RunningJob, Tenure

FILE = "BENCH_RUNS"
SECONDS = 0.1
app = Tenure()


@app.job("work")
async def work(job: RunningJob) -> None:
    """Its beginning: job, fence, moment."""
    line = f"{job.id} {job.fence} {time.time()}\n".encode()
    file = os.open(os.environ[FILE], os.O_WRONLY | os.O_APPEND)
    os.write(file, line)
    os.close(file)
    await asyncio.sleep(SECONDS)
