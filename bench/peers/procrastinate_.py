"""Procrastinate on PostgreSQL: 20 at a time for no-ops, 100 for those that wait."""

from __future__ import annotations

import asyncio
import logging

import procrastinate

from bench.peers.runner import SLEEP_SECONDS, Runner, main, url
from bench.peers.tally import hit

AT_ONCE = 1_000
app = procrastinate.App(
    connector=procrastinate.PsycopgConnector(conninfo=url(), min_size=4, max_size=20)
)


@app.task(name="noop", queue="default")
async def noop() -> None:
    hit()


@app.task(name="sleep5", queue="default")
async def sleep5() -> None:
    hit()
    await asyncio.sleep(SLEEP_SECONDS)


TASKS = {"noop": noop, "sleep5": sleep5}


def setup() -> None:
    asyncio.run(_setup())


async def _setup() -> None:
    async with app.open_async():
        await app.schema_manager.apply_schema_async()


def fill(task: str, count: int) -> None:
    asyncio.run(_fill(task, count))


async def _fill(task: str, count: int) -> None:
    async with app.open_async():
        for _ in range(count // AT_ONCE):
            await TASKS[task].batch_defer_async(*[{}] * AT_ONCE)


def work(task: str, slots: int) -> None:
    logging.disable(logging.WARNING)
    asyncio.run(_work(slots))


async def _work(slots: int) -> None:
    async with app.open_async():
        await app.run_worker_async(concurrency=slots, wait=True)


if __name__ == "__main__":
    main(Runner(setup, fill, work))
