"""Each ending of a run, seen from outside: state, reason, history."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tenure import (
    Cancel,
    Delays,
    Exponential,
    Fail,
    NotFound,
    Retry,
    RunningJob,
    Skip,
    Snooze,
    State,
    Tenure,
)
from tenure.testing import run_until_idle

ENDINGS: list[tuple[Exception, State, str | None]] = [
    (Fail("no such customer", code="no_customer"), State.FAILED, "no_customer"),
    (Fail("no"), State.FAILED, "permanent"),
    (NotFound("gone"), State.NOT_FOUND, None),
    (Skip("already sent"), State.SKIPPED, None),
    (Cancel("called off"), State.CANCELED, "canceled"),
    (ValueError("once more"), State.DEAD, "exhausted"),
]


@pytest.mark.parametrize("raised", [True, False], ids=["raised", "returned"])
@pytest.mark.parametrize(("ending", "state", "reason"), ENDINGS, ids=[repr(e[0]) for e in ENDINGS])
def test_an_ending_is_raised_or_returned(
    app: Tenure, ending: Exception, state: State, reason: str | None, raised: bool
) -> None:
    @app.job("x", retry=Delays())
    def handler(job: RunningJob) -> Any:
        if raised or isinstance(ending, ValueError):
            raise ending
        return ending

    ref = handler.enqueue()
    run_until_idle(app)

    job = app.get(ref)
    assert (job.state, job.reason) == (state, reason)
    [line] = app.insight.history(job)
    assert (line.failure or {})["message"] == str(ending)


def test_a_retry_waits_as_it_asks_and_keeps_its_error(app: Tenure) -> None:
    @app.job("x")
    async def handler(job: RunningJob) -> None:
        raise Retry("busy", delay=3600)

    ref = handler.enqueue()
    run_until_idle(app)

    job = app.get(ref)
    assert (job.state, job.attempt) == (State.QUEUED, 1)
    assert (job.run_at - app.store.now()).total_seconds() > 3500
    [line] = app.insight.history(job)
    assert (line.entry, line.attempt, line.worker, (line.failure or {})["message"]) == (
        "error", 1, job.lease_owner, "busy",
    )  # fmt: skip


def test_a_snooze_costs_no_attempt_and_is_counted(app: Tenure) -> None:
    runs: list[int] = []

    @app.job("x", retry=Delays())
    def handler(job: RunningJob) -> str:
        runs.append(job.attempt)
        if len(runs) < 4:
            raise Snooze(0, "not yet")
        return "done"

    ref = handler.enqueue()
    run_until_idle(app)

    job = app.get(ref)
    assert runs == [1, 1, 1, 1]
    assert (job.state, job.attempt, job.snoozes) == (State.SUCCEEDED, 1, 3)
    assert [line.entry for line in app.insight.history(job)] == [
        "snoozed", "snoozed", "snoozed", "succeeded",
    ]  # fmt: skip


def test_attempts_are_used_up_and_each_is_told(app: Tenure) -> None:
    @app.job("x", retry=Delays(0, 0))
    def handler(job: RunningJob) -> None:
        raise ValueError(f"attempt {job.attempt}")

    ref = handler.enqueue()
    run_until_idle(app)

    job = app.get(ref)
    assert (job.state, job.attempt, job.reason) == (State.DEAD, 3, "exhausted")
    messages = [(line.failure or {})["message"] for line in app.insight.history(job)]
    assert messages == ["attempt 1", "attempt 2", "attempt 3"]
    assert "test_outcomes.py" in (app.insight.history(job)[0].failure or {})["traceback"]


class Refused(Exception):
    retryable = False


@pytest.mark.parametrize("error", [Refused("never"), KeyError("listed")])
def test_a_permanent_error_fails_at_the_first_attempt(app: Tenure, error: Exception) -> None:
    @app.job("x", retry=Exponential(fail_on=(KeyError,)))
    def handler(job: RunningJob) -> None:
        raise error

    ref = handler.enqueue()
    run_until_idle(app)

    assert (app.get(ref).state, app.get(ref).attempt) == (State.FAILED, 1)


def test_a_result_that_is_not_json_fails_with_the_reason(app: Tenure) -> None:
    @app.job("x")
    def handler(job: RunningJob) -> object:
        return object()

    ref = handler.enqueue()
    run_until_idle(app)

    assert (app.get(ref).state, app.get(ref).reason) == (State.FAILED, "bad_payload")


@pytest.mark.parametrize(
    "bad", [SystemExit(3), KeyboardInterrupt(), StopIteration(), MemoryError()]
)
def test_whatever_a_handler_raises_never_ends_the_worker(app: Tenure, bad: BaseException) -> None:
    @app.job("bad", retry=Delays())
    def handler(job: RunningJob) -> None:
        raise bad

    @app.job("good")
    def good(job: RunningJob) -> str:
        return "fine"

    first, second = handler.enqueue(), good.enqueue()
    run_until_idle(app, concurrency=1)

    assert app.get(first).state is State.DEAD
    assert app.get(second).state is State.SUCCEEDED


def test_an_async_handler_that_cancels_itself_is_an_error(app: Tenure) -> None:
    @app.job("x", retry=Delays())
    async def handler(job: RunningJob) -> None:
        raise asyncio.CancelledError

    ref = handler.enqueue()
    run_until_idle(app)

    assert app.get(ref).state is State.DEAD


def test_results_of_every_json_shape_come_back(app: Tenure) -> None:
    values: list[Any] = [None, 0, "", [], {}, {"a": [1, None]}, "ü\x00", 1.5, True]
    app.job("x")(_echo(values))

    refs = [app.enqueue("x", {"n": n}) for n in range(len(values))]
    run_until_idle(app)

    assert [app.get(ref).result for ref in refs] == values


def _echo(values: list[Any]) -> Callable[[RunningJob, int], Any]:
    def handler(job: RunningJob, n: int) -> Any:
        return values[n]

    return handler
