"""The app whose jobs are measured: every kind does as little as its figure allows."""

from __future__ import annotations

import asyncio
import time

from tenure import Limit, RunningJob, Settings, Tenure

RESULT = "r" * 198  # as JSON: 200 bytes
SLEEP_SECONDS = 0.005
ENQUEUED_AT_ONCE = 1_000

latencies: list[float] = []
"""Seconds from just before the enqueue call to the start of the body, of the kind `stamp`."""


def make_app(url: str, limit: Limit | None = None) -> Tenure:
    """An app with every kind that the figures use; two of them limited, where that is asked."""
    app = Tenure(url, settings=Settings(auto_migrate=True))
    app.job("noop", limit=limit)(noop)
    app.job("noop.sync")(noop_sync)
    app.job("sleep5", limit=limit)(sleep5)
    app.job("result")(result)
    app.job("stamp")(stamp)
    return app


async def noop(job: RunningJob) -> None:
    """Nothing, on the loop."""


def noop_sync(job: RunningJob) -> None:
    """Nothing, in a thread."""


async def sleep5(job: RunningJob) -> None:
    """Waits as for a quick request."""
    await asyncio.sleep(SLEEP_SECONDS)


async def result(job: RunningJob, text: str) -> str:
    """Keeps a result of 200 bytes."""
    return RESULT


async def stamp(job: RunningJob, at: float) -> None:
    """Notes how long it took to get here."""
    latencies.append(time.monotonic() - at)


def fill(
    app: Tenure, kind: str, count: int, payload: object = None, queue: str = "default"
) -> None:
    """Enqueue this many, 1,000 at a time."""
    for start in range(0, count, ENQUEUED_AT_ONCE):
        few = min(ENQUEUED_AT_ONCE, count - start)
        app.enqueue_many([app.new(kind, payload, queue=queue) for _ in range(few)])
