"""A reference to a job: its result, or why there is none."""

from __future__ import annotations

import asyncio
import threading

import pytest

from tenure import Fail, JobFailed, JobRef, OptionError, RunningJob, State, Tenure, Worker


def test_the_result_is_the_handlers_value(app: Tenure) -> None:
    @app.job("add")
    def add(job: RunningJob, a: int, b: int) -> dict[str, int]:
        return {"sum": a + b}

    with Worker(app):
        ref = add.enqueue(a=1, b=2)

        assert ref.result(timeout=20) == {"sum": 3}
        assert ref.wait().state is State.SUCCEEDED
        assert ref.job().payload == {"a": 1, "b": 2}


def test_a_job_that_failed_has_no_result(app: Tenure) -> None:
    @app.job("refuse")
    def refuse(job: RunningJob) -> None:
        raise Fail("no such invoice", code="missing")

    with Worker(app):
        ref = refuse.enqueue()
        with pytest.raises(JobFailed, match=f"job {ref.id} ended failed \\(missing\\)") as told:
            ref.result(timeout=20)

    assert (told.value.state, told.value.reason) == (State.FAILED, "missing")


def test_a_job_that_takes_longer_is_a_timeout(app: Tenure) -> None:
    ref = app.enqueue("later")

    with pytest.raises(TimeoutError, match=f"job {ref.id} is still queued after 0.01 s"):
        ref.result(timeout=0.01)


def test_a_reference_can_cancel_its_job(app: Tenure) -> None:
    ref = app.enqueue("later")

    assert ref.cancel().state is State.CANCELED
    with pytest.raises(JobFailed, match="ended canceled"):
        ref.result()


async def in_a_coroutine(app: Tenure, go: threading.Event) -> str:
    ref = await app.enqueue_async("slow")
    waiting = asyncio.ensure_future(ref.result_async(timeout=20))
    go.set()
    return str(await waiting)


def test_a_coroutine_awaits_the_result(app: Tenure) -> None:
    go = threading.Event()

    @app.job("slow")
    def slow(job: RunningJob) -> str:
        go.wait(20)
        return "done"

    with Worker(app):
        assert asyncio.run(in_a_coroutine(app, go)) == "done"


def test_a_reference_without_an_app_says_so() -> None:
    with pytest.raises(OptionError, match=r"use app.get\(\)"):
        JobRef("7").job()


def test_references_are_told_apart_by_their_ids(app: Tenure) -> None:
    ref = app.enqueue("later")

    assert ref == JobRef(ref.id)
    assert repr(ref) == f"JobRef(id='{ref.id}', created=True)"
