"""A worker in a process of its own, until its input ends."""

from __future__ import annotations

import asyncio
import sys

from tenure import RunningJob, Settings, Tenure, Worker


async def push(job: RunningJob) -> None:
    """Takes long enough for the other replica to have its share."""
    await asyncio.sleep(0.1)


def main() -> None:
    app = Tenure(sys.argv[1], settings=Settings())
    app.job("push")(push)
    with Worker(app, concurrency=2):
        sys.stdin.read()
    app.close()


if __name__ == "__main__":
    main()
