"""A request that waits for a job: 200, 202 or 422, and nobody waits for a client that left."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tenure import Fail, RunningJob, State, Tenure, Worker
from tenure.asgi import WaitRoute
from tenure.asgi.wait import BadWait, Patience, patience_of
from tests.asgi.driver import Answer, Client, request
from tests.support.until import until


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Tenure]:
    app = Tenure(f"sqlite:///{tmp_path / 'jobs.db'}")

    @app.job("render")
    async def render(job: RunningJob, number: int) -> dict[str, str]:
        if number == 13:
            raise Fail("no such font")
        return {"file": f"{number}.pdf"}

    yield app
    app.close()


def route(app: Tenure, number: int | None) -> WaitRoute:
    async def ensure(scope: Any) -> Any:
        if number is None:
            return None
        return await app.enqueue_async(
            "render", {"number": number}, key=f"inv:{number}", key_window=3_600
        )

    return WaitRoute(app, ensure, error="INVOICE_PDF_RENDER_FAILED")


def test_the_answers_of_the_seed(app: Tenure) -> None:
    pending = request(route(app, 42), method="GET", query="waitMs=0")
    assert pending.status == 202
    assert pending.headers["retry-after"] == "2"
    assert pending.json() | {"jobId": ""} == {
        "status": "PENDING", "retryAfterMs": 2_000, "jobId": ""
    }  # fmt: skip

    with Worker(app):
        until(lambda: app.get(pending.json()["jobId"]).state == State.SUCCEEDED)
        ready = request(route(app, 42), method="GET")
        failed = request(route(app, 13), method="GET")

    assert ready.status == 200
    assert ready.json() == {
        "status": "READY", "jobId": pending.json()["jobId"], "result": {"file": "42.pdf"}
    }  # fmt: skip
    assert failed.status == 422
    assert failed.json()["error"] == "INVOICE_PDF_RENDER_FAILED"
    assert request(route(app, None)).status == 404
    assert sum(app.insight.counts().values()) == 2


def test_a_job_that_was_purged_is_not_found(app: Tenure) -> None:
    async def ensure(scope: Any) -> str:
        return "4711"

    answer = request(WaitRoute(app, ensure), method="GET")

    assert (answer.status, answer.json()["code"]) == (404, "job-not-found")


def test_a_client_that_leaves_is_waited_for_no_more(app: Tenure) -> None:
    async def leave() -> Answer:
        client = Client(route(app, 42), method="GET", query="waitMs=30000")
        waiting = asyncio.ensure_future(client.send())
        await asyncio.to_thread(until, lambda: len(app.waiters) == 1)
        client.leave()
        return await asyncio.wait_for(waiting, 20)

    assert asyncio.run(leave()).status == 0
    assert len(app.waiters) == 0
    assert app.insight.counts() == {State.QUEUED: 1}


def test_everybody_is_answered_when_the_app_closes(app: Tenure) -> None:
    async def close() -> list[Answer]:
        clients = [Client(route(app, n), method="GET", query="waitMs=30000") for n in range(5)]
        waiting = [asyncio.ensure_future(client.send()) for client in clients]
        await asyncio.to_thread(until, lambda: len(app.waiters) == 5)
        await asyncio.to_thread(app.close)
        return list(await asyncio.gather(*waiting))

    assert {one.status for one in asyncio.run(close())} == {202}


@pytest.mark.parametrize(
    ("query", "prefer", "patience"),
    [
        ("", "", Patience(15)),
        ("waitMs=250", "wait=5", Patience(0.25)),
        ("waitMs=99999999999", "", Patience(30)),
        ("", "wait=5", Patience(5, preferred=True)),
        ("", "respond-async, wait = 99", Patience(30, preferred=True)),
        ("", "respond-async|wait=5", Patience(5, preferred=True)),
        ("", "wait=10000000000", Patience(30, preferred=True)),
        ("", "await=5", Patience(15)),
        ("", "wait=soon", Patience(15)),
    ],
)
def test_how_long_a_request_waits(query: str, prefer: str, patience: Patience) -> None:
    said = [(b"prefer", line.encode()) for line in prefer.split("|")]
    scope = {"query_string": query.encode(), "headers": said}

    assert patience_of(scope) == patience


@pytest.mark.parametrize("value", ["soon", "-1", "1.5", "\u0661"])
def test_what_is_no_number_is_refused(app: Tenure, value: str) -> None:
    with pytest.raises(BadWait):
        patience_of({"query_string": f"waitMs={value}".encode(), "headers": []})
    assert request(route(app, 1), query=f"waitMs={value}").status == 400
    assert app.insight.counts() == {}


def test_what_was_granted_is_said(app: Tenure) -> None:
    found = request(route(app, 1), headers={"prefer": "wait=0"})

    assert found.headers["preference-applied"] == "wait=0"
