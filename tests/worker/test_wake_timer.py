"""Wake-ups of one worker: the first at once, a flood of empty ones spaced."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable

from tenure.wakeups.due_jobs import EVERY_QUEUE
from tenure.worker.wake_timer import FREE, Alarm

Rung = list[str]


def on_a_loop(test: Callable[[Alarm, Rung], Awaitable[None]]) -> None:
    async def run() -> None:
        rung: Rung = []
        await test(Alarm(["pdf", "mail"], lambda: rung.append("!")), rung)

    asyncio.run(run())


async def ring(rung: Rung, count: int) -> None:
    async with asyncio.timeout(20):
        while len(rung) < count:
            await asyncio.sleep(0)


def test_only_queues_of_this_worker_ring() -> None:
    async def test(alarm: Alarm, rung: Rung) -> None:
        alarm.heard(["other"])
        assert (rung, sorted(alarm.take())) == ([], [])
        alarm.heard(["other", "pdf"])
        assert (rung, sorted(alarm.take())) == (["!"], ["pdf"])
        alarm.heard([EVERY_QUEUE])
        assert alarm.take() == {"pdf", "mail"}

    on_a_loop(test)


def test_it_rings_once_until_somebody_looks_whichever_thread_calls() -> None:
    async def test(alarm: Alarm, rung: Rung) -> None:
        thread = threading.Thread(target=lambda: [*map(alarm.heard, [["pdf"]] * 100)])
        thread.start()
        await ring(rung, 1)
        alarm.heard(["pdf"])
        await asyncio.to_thread(thread.join)
        assert alarm.take() == {"pdf"}
        assert alarm.take() == frozenset()

    on_a_loop(test)


def test_looks_in_vain_are_spaced_until_one_brings_something() -> None:
    async def test(alarm: Alarm, rung: Rung) -> None:
        for _ in range(FREE + 1):
            alarm.heard(["pdf"])
            alarm.take()
            alarm.answered(False)
        assert len(rung) == FREE + 1
        alarm.heard(["pdf"])
        alarm.heard(["mail"])
        assert len(rung) == FREE + 1
        await ring(rung, FREE + 2)
        assert alarm.take() == {"pdf", "mail"}
        alarm.heard(["pdf"])
        alarm.answered(True)
        assert len(rung) == FREE + 3

    on_a_loop(test)
