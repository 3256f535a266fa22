"""PgQueuer as it is fastest: asyncpg, uvloop, batches of 200."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta

import asyncpg
import uvloop
from pgqueuer import AsyncpgDriver, Job, PgQueuer, Queries

from bench.peers.runner import SLEEP_SECONDS, Runner, main, url
from bench.peers.tally import hit

AT_ONCE = 1_000
BATCH = 200


def setup() -> None:
    asyncio.run(_with_queries(lambda queries: queries.install()))


def fill(task: str, count: int) -> None:
    asyncio.run(_with_queries(lambda queries: _fill(queries, task, count)))


async def _fill(queries: Queries, task: str, count: int) -> None:
    for _ in range(count // AT_ONCE):
        await queries.enqueue([task] * AT_ONCE, [b"0.0"] * AT_ONCE, [0] * AT_ONCE)


def work(task: str, slots: int) -> None:
    logging.disable(logging.WARNING)
    uvloop.run(_work(slots))


async def _work(slots: int) -> None:
    peer = PgQueuer(AsyncpgDriver(await asyncpg.connect(url())))

    @peer.entrypoint("noop")
    async def noop(job: Job) -> None:
        hit(float(job.payload))

    @peer.entrypoint("sleep5")
    async def sleep5(job: Job) -> None:
        hit(float(job.payload))
        await asyncio.sleep(SLEEP_SECONDS)

    bounds = {"max_concurrent_tasks": slots} if slots else {}
    batch = min(BATCH, slots // 2) if slots else BATCH
    await peer.run(dequeue_timeout=timedelta(seconds=5), batch_size=batch, **bounds)


def put() -> Callable[[float], None]:
    """One loop and one connection for the whole trickle."""
    loop = uvloop.new_event_loop()
    queries = Queries(AsyncpgDriver(loop.run_until_complete(asyncpg.connect(url()))))

    def enqueue(at: float) -> None:
        loop.run_until_complete(queries.enqueue("noop", repr(at).encode()))

    enqueue(0.0)
    return enqueue


async def _with_queries(do: Callable[[Queries], Awaitable[object]]) -> None:
    connection = await asyncpg.connect(url())
    await do(Queries(AsyncpgDriver(connection)))
    await connection.close()


if __name__ == "__main__":
    main(Runner(setup, fill, work, put))
