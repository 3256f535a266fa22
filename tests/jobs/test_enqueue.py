"""Enqueuing: refs, many at once, async forms, and calls in the wrong place."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from tenure import JobFilter, KeyConflict, OptionError, PayloadError, RunningJob, State, Tenure
from tenure.core.errors import OutsideTransaction, SyncCallOnLoop
from tenure.testing import run_until_idle


def test_an_app_opens_nothing_before_its_first_use(tmp_path: Path) -> None:
    app = Tenure(f"sqlite:///{tmp_path / 'later.db'}")
    app.job("x")(lambda job: None)

    assert os.listdir(tmp_path) == []

    app.enqueue("x")
    assert "later.db" in os.listdir(tmp_path)


def test_many_jobs_are_all_or_none(app: Tenure) -> None:
    app.enqueue("k", {"v": 1}, key="taken")

    with pytest.raises(KeyConflict, match="taken"):
        app.enqueue_many(
            [app.new("k", n) for n in range(5)] + [app.new("k", {"v": 2}, key="taken")]
        )

    assert app.insight.counts(JobFilter()) == {State.QUEUED: 1}


def test_a_key_in_use_answers_with_the_job_that_is_there(app: Tenure) -> None:
    first = app.enqueue("k", {"v": 1}, key="one")
    second = app.enqueue("k", {"v": 1}, key="one")

    assert (first.created, second.created) == (True, False)
    assert first.id == second.id


def test_async_forms_do_the_same(app: Tenure) -> None:
    @app.job("double")
    async def double(job: RunningJob, n: int) -> int:
        return 2 * n

    async def story() -> list[int]:
        refs = [await double.enqueue_async(1), await app.enqueue_async("double", {"n": 2})]
        refs += await app.enqueue_many_async([double.new(3), double.using(priority=0).new(4)])
        await asyncio.to_thread(run_until_idle, app)
        return [(await app.wait_async(ref)).result for ref in refs]

    assert asyncio.run(story()) == [2, 4, 6, 8]


@pytest.mark.parametrize(
    ("call", "instead"),
    [
        (lambda app: app.enqueue("x"), "enqueue_async"),
        (lambda app: app.enqueue_many([]), "enqueue_async"),
        (lambda app: app.wait("1"), "wait_async"),
        (lambda app: app.transaction().__enter__(), "to_thread"),
    ],
)
def test_a_blocking_call_on_a_running_loop_names_the_other(
    app: Tenure, call: object, instead: str
) -> None:
    async def wrong() -> None:
        call(app)  # type: ignore[operator]

    with pytest.raises(SyncCallOnLoop, match=instead):
        asyncio.run(wrong())


def test_an_enqueue_beside_an_open_transaction_is_refused(app: Tenure) -> None:
    with app.transaction() as tx:
        with pytest.raises(OutsideTransaction, match="tx="):
            app.enqueue("x")
        tx.enqueue("x", {"in": True})

    assert app.insight.counts(JobFilter()) == {State.QUEUED: 1}


def test_a_payload_over_the_limit_is_refused_with_advice(app: Tenure) -> None:
    with pytest.raises(PayloadError, match="1,048,576"):
        app.enqueue("x", {"blob": "x" * 1_048_577})

    assert app.insight.counts(JobFilter()) == {}


def test_wait_answers_the_job_as_it_is_when_time_is_over(app: Tenure) -> None:
    ref = app.enqueue("nobody runs this")

    assert app.wait(ref, seconds=0.05).state is State.QUEUED


def test_follow_up_jobs_inherit_tenant_owner_and_correlation(app: Tenure) -> None:
    @app.job("parent")
    def parent(job: RunningJob) -> str:
        return app.enqueue("child").id

    ref = parent.using(tenant="acme", owner="ada", correlation_id="c-7").enqueue()
    run_until_idle(app)

    child = app.get(app.get(ref).result)
    assert (child.tenant, child.owner, child.correlation_id, child.enqueued_by) == (
        "acme", "ada", "c-7", f"job:{ref.id}",
    )  # fmt: skip


@pytest.mark.parametrize("owner", ["bob", None])
def test_a_follow_up_job_may_have_another_owner_or_none(app: Tenure, owner: str | None) -> None:
    @app.job("parent")
    def parent(job: RunningJob) -> str:
        return app.enqueue("child", owner=owner).id

    ref = parent.using(owner="ada").enqueue()
    run_until_idle(app)

    assert app.get(app.get(ref).result).owner == owner


def test_a_new_job_is_no_payload(app: Tenure) -> None:
    with pytest.raises(PayloadError, match="enqueue_many"):
        app.enqueue("x", app.new("y"))


def test_options_that_look_alike_are_told_apart(app: Tenure) -> None:
    assert app.new("x", priority=1).priority == 1
    with pytest.raises(OptionError, match="priority"):
        app.new("x", priority=True)
