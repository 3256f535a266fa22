"""One id from the request through its jobs to the calls that they make."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from tenure import OptionError, RunningJob, Tenure
from tenure.asgi.messages import Application, Receive, Scope, Send, answer
from tenure.testing import run_until_idle
from tenure.watch.correlation import correlated, correlation_id, traceparent, with_correlation
from tenure.watch.requests import Correlated
from tests.asgi.driver import Client, request
from tests.watch.serving import serving

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def test_jobs_of_a_block_carry_its_id(app: Tenure) -> None:
    with correlated("order-42", TRACE):
        inside = app.enqueue("well")
        own = app.enqueue("well", correlation_id="mine")
    outside = app.enqueue("well")

    assert (app.get(inside).correlation_id, app.get(inside).trace) == ("order-42", TRACE)
    assert app.get(own).correlation_id == "mine"
    assert (app.get(outside).correlation_id, app.get(outside).trace) == (None, None)


def test_a_block_without_an_id_gets_a_new_one(app: Tenure) -> None:
    with correlated() as first:
        assert correlation_id() == first
    with correlated() as second:
        assert first != second
    assert correlation_id() is None


@pytest.mark.parametrize("evil", ["", "a b", "a\nb", "a\r\nSet-Cookie: x", "ä", "x" * 201])
def test_an_id_that_could_break_a_line_is_refused(evil: str) -> None:
    with pytest.raises(OptionError), correlated(evil):
        pass
    with pytest.raises(OptionError), correlated("a", trace="00-zz"):
        pass


def test_jobs_that_a_job_enqueues_carry_its_id_through_every_attempt(app: Tenure) -> None:
    seen: list[tuple[int, str | None]] = []

    @app.job("parent")
    async def parent(job: RunningJob) -> None:
        await app.enqueue_async("child")

    @app.job("child")
    def child(job: RunningJob) -> None:
        seen.append((job.attempt, correlation_id()))
        if job.attempt == 1:
            app.enqueue("grandchild")
            raise ValueError("once more")

    @app.job("grandchild")
    def grandchild(job: RunningJob) -> None:
        seen.append((0, correlation_id()))

    parent.using(correlation_id="order-42", trace=TRACE).enqueue()
    run_until_idle(app)
    [waiting] = [job for job in app.insight.stream() if job.kind == "child"]
    app.retry(waiting.id)
    run_until_idle(app)

    assert seen == [(1, "order-42"), (0, "order-42"), (2, "order-42")]
    assert {job.correlation_id for job in app.insight.stream()} == {"order-42"}


def test_a_worker_that_a_request_has_started_does_not_belong_to_it(app: Tenure) -> None:
    seen: list[str | None] = []

    @app.job("x")
    def handler(job: RunningJob) -> None:
        seen.append(correlation_id())
        app.enqueue("well")
        with correlated("inner"):
            app.enqueue("well")

    handler.using(correlation_id="mine").enqueue()
    handler.enqueue()
    with correlated("the-request"):
        run_until_idle(app)

    assert seen == ["mine", None]
    carried = [job.correlation_id for job in app.insight.stream() if job.kind == "well"]
    assert sorted(map(str, carried)) == ["None", "inner", "inner", "mine"]


@contextmanager
def echo() -> Iterator[str]:
    """A real HTTP server that answers with the headers that it was sent."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await answer(send, 200, {key.decode(): value.decode() for key, value in scope["headers"]})

    with serving(app) as url:
        yield url


def test_calls_of_a_job_name_its_id_and_trace(app: Tenure) -> None:
    answers: list[dict[str, str]] = []
    with echo() as url, with_correlation(httpx.Client()) as client:

        @app.job("call")
        def call(job: RunningJob) -> None:
            answers.append(client.get(url).json())
            answers.append(client.get(url, headers={"x-correlation-id": "own"}).json())

        @app.job("call.async")
        async def call_async(job: RunningJob) -> None:
            async with with_correlation(httpx.AsyncClient()) as other:
                answers.append((await other.get(url)).json())

        for kind in ("call", "call.async"):
            app.enqueue(kind, correlation_id="order-42", trace=TRACE)
            run_until_idle(app)
        outside = client.get(url).json()

    assert [found["x-correlation-id"] for found in answers] == ["order-42", "own", "order-42"]
    assert all(found["traceparent"] == TRACE for found in answers)
    assert "x-correlation-id" not in outside
    assert traceparent() is None


def api(app: Tenure, seen: list[Any]) -> Application:
    async def enqueue(scope: Scope, receive: Receive, send: Send) -> None:
        ref = await app.enqueue_async("well")
        seen.append(scope["state"]["correlation_id"])
        await answer(send, 200, {"id": ref.id}, {"x-correlation-id": "overwritten"})

    return Correlated(enqueue, app)


def test_a_request_passes_its_id_on_and_is_answered_with_it(app: Tenure) -> None:
    seen: list[Any] = []
    headers = {"x-correlation-id": "order-42", "traceparent": TRACE}
    told = request(api(app, seen), headers=headers)

    job = app.get(told.json()["id"])
    assert told.headers["x-correlation-id"] == "order-42"
    assert (job.correlation_id, job.trace, seen) == ("order-42", TRACE, ["order-42"])


def test_an_id_that_somebody_has_checked_before_is_taken(app: Tenure) -> None:
    served = api(app, [])

    async def around(scope: Scope, receive: Receive, send: Send) -> None:
        scope["state"] = {"correlation_id": "named-before"}
        await served(scope, receive, send)

    told = request(around, headers={"x-correlation-id": "other"})

    assert app.get(told.json()["id"]).correlation_id == "named-before"


def test_a_request_without_an_id_is_given_one(app: Tenure) -> None:
    told = request(api(app, []), headers={"traceparent": "nonsense"})

    job = app.get(told.json()["id"])
    assert job.correlation_id == told.headers["x-correlation-id"]
    assert (len(job.correlation_id or ""), job.trace) == (36, None)


@pytest.mark.parametrize("evil", ["a b", "x" * 300, "a\tb", "a\r\nSet-Cookie: x", ""])
def test_a_request_with_an_impossible_id_is_a_problem(app: Tenure, evil: str) -> None:
    seen: list[Any] = []
    told = request(api(app, seen), headers={"x-correlation-id": evil})

    assert (told.status, told.headers["content-type"]) == (400, "application/problem+json")
    assert told.json()["code"] == "invalid-correlation-id"
    assert evil not in told.headers["x-correlation-id"] or not evil
    assert (seen, list(app.insight.stream())) == ([], [])


def test_requests_at_the_same_time_do_not_mix(app: Tenure) -> None:
    served = api(app, [])

    async def many() -> list[tuple[str, str]]:
        async def one(number: int) -> tuple[str, str]:
            name = f"order-{number}"
            found = await Client(served, headers={"x-correlation-id": name}).send()
            return name, found.json()["id"]

        return list(await asyncio.gather(*(one(number) for number in range(20))))

    for name, job_id in asyncio.run(many()):
        assert app.get(job_id).correlation_id == name
