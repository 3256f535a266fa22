"""A worker whose short jobs say how late they began: `python -m bench.beginner URL SLOTS PREFETCH`.

PREFETCH is `auto`, or the most that is claimed ahead. Answers `serve` with "ready", works until the
next line, and answers that with the seconds from due to begin of every short job.
"""

from __future__ import annotations

import asyncio
import sys
import time

from bench.worker import say
from tenure import RunningJob, Settings, Tenure, Worker

SHORT_SECONDS, LONG_SECONDS = 0.001, 0.2


def make_app(url: str, late: list[float]) -> Tenure:
    """Half of its jobs are short, half are long."""
    app = Tenure(url, settings=Settings(auto_migrate=True))

    @app.job("short")
    async def short(job: RunningJob, due: float) -> None:
        late.append(time.time() - due)
        await asyncio.sleep(SHORT_SECONDS)

    @app.job("long")
    async def long(job: RunningJob, due: float) -> None:
        await asyncio.sleep(LONG_SECONDS)

    return app


def main(url: str, slots: str, prefetch: str) -> None:
    late: list[float] = []
    app = make_app(url, late)
    if prefetch != "auto":
        app.queue("default", prefetch=int(prefetch))
    while sys.stdin.readline().strip() == "serve":
        late.clear()
        with Worker(app, concurrency=int(slots)):
            say("ready")
            sys.stdin.readline()
        say(late)


if __name__ == "__main__":
    main(*sys.argv[1:])
