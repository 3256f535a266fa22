"""The sample app: what `tenure up` runs when no app is named. Its jobs show every ending."""

from __future__ import annotations

import asyncio
import time

from tenure.app import Tenure
from tenure.core.outcome import Fail
from tenure.core.rules.retry import Delays
from tenure.jobs.running_job import RunningJob
from tenure.settings import Settings

# A name of its own: it declares no schedules, and a worker of it must not disable those of the app
# that has no name.
app = Tenure(settings=Settings(app_name="tenure.sample"))


@app.job("demo.mail")
async def mail(job: RunningJob, to: str) -> dict[str, str]:
    """Quick: waits on the loop as if for a mail server."""
    await asyncio.sleep(0.05)
    return {"sent_to": to}


@app.job("demo.report", queue="slow")
def report(job: RunningJob, seconds: float, pages: int = 4) -> str | None:
    """Slow: works in a thread, says how far it is, and stops when it is cancelled."""
    for page in range(pages):
        job.progress(page / pages, f"page {page + 1} of {pages}")
        time.sleep(seconds / pages)
        if job.canceled:
            return None
    job.log("the report is printed")
    return f"{pages} pages"


@app.job("demo.flaky", retry=Delays(0.3, 0.6))
async def flaky(job: RunningJob, succeeds_at: int) -> int:
    """Fails until its attempt number `succeeds_at`; it has three."""
    await asyncio.sleep(0.02)
    if job.attempt < succeeds_at:
        raise ConnectionError(f"the other side hung up at attempt {job.attempt}")
    return job.attempt


@app.job("demo.broken")
async def broken(job: RunningJob, address: str) -> None:
    """Fails for good: trying again would not help."""
    raise Fail(f"{address!r} is no address", code="bad_address")
