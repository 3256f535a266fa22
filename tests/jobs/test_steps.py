"""`job.step(name, fn)`: once per job, whatever its retries. On every database."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tenure import Delays, LeaseLost, OptionError, PayloadError, RunningJob, Settings, State, Tenure
from tenure.core.errors import StepTwice, SyncCallOnLoop, UsageError
from tenure.stores.contract import ClaimRequest
from tenure.testing import run_until_idle

AGAIN = Delays(0.0, 0.0)


@pytest.fixture
def app(database_url: str) -> Iterator[Tenure]:
    made = Tenure(database_url, settings=Settings(lease_seconds=30))
    yield made
    made.close()


@pytest.fixture
def calls() -> list[Any]:
    return []


def running(app: Tenure, **options: Any) -> RunningJob:
    """A job in a handler's hands."""
    app.enqueue("x", **options)
    request = ClaimRequest(owner="w", kinds=["x"], slots={"default": 1}, lease_seconds=60)
    return RunningJob(app, app.store.jobs.claim(request).jobs[0])


def test_a_step_that_is_done_is_not_done_again(app: Tenure, calls: list[Any]) -> None:
    def charge(amount: int, *, currency: str) -> dict[str, Any]:
        calls.append((amount, currency))
        return {"paid": (amount, currency)}

    @app.job("order", retry=AGAIN)
    def order(job: RunningJob) -> Any:
        receipt = job.step("charge", charge, 42, currency="EUR")
        calls.append(receipt)
        if job.attempt < 3:
            raise ValueError("the mail server is away")
        return receipt

    ref = order.enqueue()
    run_until_idle(app)

    assert calls == [(42, "EUR"), *[{"paid": [42, "EUR"]}] * 3]
    assert app.get(ref).result == {"paid": [42, "EUR"]}


def test_the_async_form_takes_both_sorts_of_functions(app: Tenure, calls: list[Any]) -> None:
    async def charge(amount: int) -> int:
        await asyncio.sleep(0)
        calls.append(amount)
        return amount

    @app.job("order", retry=AGAIN)
    async def order(job: RunningJob) -> list[Any]:
        done = [
            await job.step_async("charge", charge, 42),
            await job.step_async("note", lambda: calls.append("note")),
        ]
        if job.attempt < 2:
            raise ValueError
        return done

    ref = order.enqueue()
    run_until_idle(app)

    assert calls == [42, "note"]
    assert app.get(ref).result == [42, None]


def test_what_raises_is_not_remembered_and_may_be_tried_again(
    app: Tenure, calls: list[Any]
) -> None:
    def charge() -> str:
        calls.append("charge")
        if len(calls) < 3:
            raise ConnectionError
        return "paid"

    @app.job("order", retry=AGAIN)
    def order(job: RunningJob) -> str:
        with pytest.raises(ConnectionError):
            job.step("charge", charge)
        return str(job.step("charge", charge))

    ref = order.enqueue()
    run_until_idle(app)

    assert (calls, app.get(ref).state) == (["charge"] * 3, State.DEAD)
    assert dict(app.store.steps.recall(ref.id)) == {"charge": '"paid"'}


def test_two_steps_of_one_name_are_an_error(app: Tenure, calls: list[Any]) -> None:
    job = running(app)
    job.step("charge", calls.append, 1)

    with pytest.raises(StepTwice, match="step 'charge' in this run"):
        job.step("charge", calls.append, 2)
    with pytest.raises(StepTwice):
        asyncio.run(job.step_async("charge", calls.append, 3))
    assert calls == [1]


def test_the_same_name_at_the_same_moment_is_an_error_too(app: Tenure) -> None:
    job = running(app)
    begun, go_on = threading.Event(), threading.Event()

    def wait() -> None:
        begun.set()
        go_on.wait(10)

    first = threading.Thread(target=job.step, args=("charge", wait))
    first.start()
    assert begun.wait(10)
    with pytest.raises(StepTwice):
        job.step("charge", wait)
    go_on.set()
    first.join(10)


def test_a_late_holder_learns_that_its_step_does_not_count(app: Tenure) -> None:
    job = running(app)
    late = RunningJob(app, job.claimed._replace(lease=job.claimed.lease._replace(fence=0)))

    with pytest.raises(LeaseLost):
        late.step("charge", int)
    assert late.canceled
    assert dict(app.store.steps.recall(job.id)) == {}


def test_a_result_that_cannot_be_kept_is_an_error(app: Tenure) -> None:
    job = running(app)
    with pytest.raises(PayloadError, match="result of step 'large' has"):
        job.step("large", lambda: "x" * app.settings.payload_limit_bytes)
    with pytest.raises(PayloadError, match="not JSON"):
        job.step("object", object)
    for name in ("", "n" * 201, "a\nb", None):
        with pytest.raises(OptionError, match="step"):
            job.step(name, int)  # type: ignore[arg-type]


def test_a_step_in_the_wrong_place_says_so(app: Tenure) -> None:
    job = running(app)

    async def pay() -> None: ...

    async def blocking() -> None:
        job.step("charge", int)

    with pytest.raises(OptionError, match="is async: await"):
        job.step("charge", pay)
    with pytest.raises(SyncCallOnLoop):
        asyncio.run(blocking())
    with app.transaction(), pytest.raises(UsageError, match="transaction of its own"):
        job.step("charge", int)
    assert job.step("charge", int) == 0


def test_a_first_run_asks_the_database_nothing_and_writes_once(app: Tenure) -> None:
    job = running(app)
    app.store.steps.recall = None  # type: ignore[method-assign,assignment]

    assert job.step("charge", int) == 0


def test_a_dead_letter_that_is_replayed_keeps_its_steps(app: Tenure, calls: list[Any]) -> None:
    broken = threading.Event()
    broken.set()

    @app.job("order", retry=Delays())
    def order(job: RunningJob) -> None:
        job.step("charge", calls.append, "charge")
        if broken.is_set():
            raise ValueError

    ref = order.enqueue()
    run_until_idle(app)
    assert app.get(ref).state is State.DEAD
    broken.clear()
    app.retry(ref)
    run_until_idle(app)

    assert (app.get(ref).state, calls) == (State.SUCCEEDED, ["charge"])
