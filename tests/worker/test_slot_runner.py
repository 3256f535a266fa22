"""Slots that take job after job on one task: what one handler does must not reach the next."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import Any

import pytest

from tenure import NO_RETRY, RunningJob, State, Tenure
from tenure.testing import run_until_idle
from tenure.worker.running import slot_runner

colour: ContextVar[str] = ContextVar("colour", default="none")


def test_a_context_variable_does_not_reach_the_next_job(app: Tenure) -> None:
    @app.job("paint")
    async def paint(job: RunningJob) -> str:
        before = colour.get()
        colour.set("red")
        return before

    refs = [paint.enqueue() for _ in range(20)]
    run_until_idle(app, concurrency=1)

    assert [app.get(ref).result for ref in refs] == ["none"] * 20


def test_handlers_that_never_wait_share_a_task(app: Tenure) -> None:
    tasks: set[Any] = set()

    @app.job("quick")
    async def quick(job: RunningJob) -> None:
        tasks.add(asyncio.current_task())

    app.enqueue_many([quick.new() for _ in range(100)])
    run_until_idle(app, concurrency=100)

    assert len(tasks) < 50


def test_handlers_that_wait_run_side_by_side(app: Tenure) -> None:
    met = asyncio.Barrier(50)

    @app.job("meet")
    async def meet(job: RunningJob) -> None:
        await met.wait()

    refs = [meet.enqueue() for _ in range(50)]
    run_until_idle(app, concurrency=50)

    assert {app.get(ref).state for ref in refs} == {State.SUCCEEDED}


def test_a_handler_that_cancels_its_own_task_harms_no_other_job(app: Tenure) -> None:
    @app.job("self", retry=NO_RETRY)
    async def cancels_itself(job: RunningJob, wait: bool) -> str:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        if wait:
            await asyncio.sleep(0)
        return "done"

    @app.job("calm")
    async def calm(job: RunningJob) -> str:
        await asyncio.sleep(0)
        return "done"

    refs = [cancels_itself.enqueue(wait=wait) for wait in (False, True)]
    others = [calm.enqueue() for _ in range(20)]
    run_until_idle(app, concurrency=1)

    assert [app.get(ref).state for ref in refs] == [State.SUCCEEDED, State.DEAD]
    assert [app.get(ref).result for ref in others] == ["done"] * 20


def test_a_handler_that_ends_on_being_timed_out_leaves_its_slot_to_others(app: Tenure) -> None:
    @app.job("slow", timeout=0.05, retry=NO_RETRY)
    async def slow(job: RunningJob, stubborn: bool) -> None:
        try:
            await asyncio.sleep(3_600)
        except asyncio.CancelledError:
            if not stubborn:
                raise

    @app.job("calm")
    async def calm(job: RunningJob) -> str:
        await asyncio.sleep(0)
        return "done"

    refs = [slow.enqueue(stubborn=stubborn) for stubborn in (False, True)]
    others = [calm.enqueue() for _ in range(10)]
    run_until_idle(app, concurrency=1)

    assert [app.get(ref).state for ref in refs] == [State.DEAD] * 2
    assert [app.get(ref).result for ref in others] == ["done"] * 10


def test_the_loop_breathes_between_busy_handlers(
    app: Tenure, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slot_runner, "SLICE_SECONDS", 0.0)
    breaths: list[int] = []
    ran: list[str] = []

    @app.job("busy")
    async def busy(job: RunningJob) -> None:
        asyncio.get_running_loop().call_soon(lambda: breaths.append(len(ran)))
        ran.append(job.id)

    app.enqueue_many([busy.new() for _ in range(20)])
    run_until_idle(app, concurrency=20)

    assert len(ran) == 20
    assert breaths[0] < 20


def test_any_number_of_jobs_may_end_before_their_handlers_begin(app: Tenure) -> None:
    @app.job("quick")
    def quick(job: RunningJob) -> None: ...

    @app.job("typed")
    def typed(job: RunningJob, number: int) -> None: ...

    app.enqueue_many([quick.new() for _ in range(300)])  # a quick queue claims ahead
    wrong = app.new("typed", {"number": "x"})
    app.enqueue_many([wrong] * 1_000)
    run_until_idle(app)

    assert app.insight.counts() == {State.SUCCEEDED: 300, State.FAILED: 1_000}


def test_async_and_plain_handlers_share_a_queue(app: Tenure) -> None:
    @app.job("on.loop")
    async def on_loop(job: RunningJob) -> str:
        return "loop"

    @app.job("in.thread")
    def in_thread(job: RunningJob) -> str:
        return "thread"

    refs = [handler.enqueue() for _ in range(20) for handler in (on_loop, in_thread)]
    run_until_idle(app, concurrency=3)

    assert [app.get(ref).result for ref in refs] == ["loop", "thread"] * 20
