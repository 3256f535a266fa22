"""Wake-ups of one worker: the first at once, a flood of empty ones spaced."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable

from tenure.wakeups.due_jobs import EVERY_QUEUE
from tenure.worker.claiming.wake_timer import FREE, WakeTimer

Rung = list[str]


def on_a_loop(test: Callable[[WakeTimer, Rung], Awaitable[None]]) -> None:
    async def run() -> None:
        rung: Rung = []
        await test(WakeTimer(["pdf", "mail"], lambda: rung.append("!")), rung)

    asyncio.run(run())


async def ring(rung: Rung, count: int) -> None:
    async with asyncio.timeout(20):
        while len(rung) < count:
            await asyncio.sleep(0)


def test_only_queues_of_this_worker_ring() -> None:
    async def test(timer: WakeTimer, rung: Rung) -> None:
        timer.heard(["other"])
        assert (rung, sorted(timer.take())) == ([], [])
        timer.heard(["other", "pdf"])
        assert (rung, sorted(timer.take())) == (["!"], ["pdf"])
        timer.heard([EVERY_QUEUE])
        assert timer.take() == {"pdf", "mail"}

    on_a_loop(test)


def test_it_rings_once_until_somebody_looks_whichever_thread_calls() -> None:
    async def test(timer: WakeTimer, rung: Rung) -> None:
        thread = threading.Thread(target=lambda: [*map(timer.heard, [["pdf"]] * 100)])
        thread.start()
        await ring(rung, 1)
        timer.heard(["pdf"])
        await asyncio.to_thread(thread.join)
        assert timer.take() == {"pdf"}
        assert timer.take() == frozenset()

    on_a_loop(test)


def test_looks_in_vain_are_spaced_until_one_brings_something() -> None:
    async def test(timer: WakeTimer, rung: Rung) -> None:
        for _ in range(FREE + 1):
            timer.heard(["pdf"])
            timer.take()
            timer.answered(False)
        assert len(rung) == FREE + 1
        timer.heard(["pdf"])
        timer.heard(["mail"])
        assert len(rung) == FREE + 1
        await ring(rung, FREE + 2)
        assert timer.take() == {"pdf", "mail"}
        timer.heard(["pdf"])
        timer.answered(True)
        assert len(rung) == FREE + 3

    on_a_loop(test)
