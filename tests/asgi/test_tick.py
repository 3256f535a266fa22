"""POST /internal/tick: a token, one at a time, the report."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from tenure import OptionError, RunningJob, State, Tenure
from tenure.asgi import TickRoute
from tenure.worker.settings import WorkerSettings
from tests.asgi.driver import Answer, Client, request

TOKEN = "a-token-of-some-length"
SENT = {"x-service-token": TOKEN}


@pytest.fixture
def app(tmp_path: Path) -> Tenure:
    app = Tenure(f"sqlite:///{tmp_path / 'jobs.db'}")
    app.job("x")(handler)
    app.job("slow")(slow)
    return app


async def handler(job: RunningJob) -> None:
    await asyncio.sleep(0)


async def slow(job: RunningJob) -> None:
    await asyncio.sleep(0.5)


def settings(**values: Any) -> WorkerSettings:
    return WorkerSettings(**{"api_service_token": SecretStr(TOKEN), **values})


def test_a_tick_answers_its_report(app: Tenure) -> None:
    app.enqueue_many([app.new("x") for _ in range(5)])
    route = TickRoute(app, settings=settings(tick_runner_max_items=3))

    first, second = (request(route, headers=SENT) for _ in range(2))

    assert (first.status, second.status) == (200, 200)
    assert [first.json()["processed"], second.json()["processed"]] == [3, 2]
    assert [one["name"] for one in first.json()["runners"]] == ["schedules", "jobs", "pruning"]


def test_nobody_ticks_without_the_token(app: Tenure) -> None:
    app.enqueue("x")
    route = TickRoute(app, settings=settings())

    answers = [
        request(route),
        request(route, headers={"x-service-token": "wrong"}),
        request(route, headers={"x-service-token": TOKEN + "ü"}),
        request(route, method="GET", headers=SENT),
    ]

    assert [one.status for one in answers] == [401, 403, 403, 405]
    for one in answers:
        assert one.headers["content-type"] == "application/problem+json"
        assert one.json()["status"] == one.status
    assert app.insight.counts() == {"queued": 1}


def test_a_second_tick_is_told_that_one_is_running(app: Tenure) -> None:
    app.enqueue("slow")
    route = TickRoute(app, settings=settings())

    async def both() -> list[Answer]:
        requests = (Client(route, headers=SENT).send() for _ in range(2))
        return list(await asyncio.gather(*requests))

    first, second = asyncio.run(both())

    assert (first.status, second.status) == (200, 409)
    assert second.headers["retry-after"] == "1"
    assert request(route, headers=SENT).status == 200


def test_a_failing_runner_is_a_500_with_the_report(app: Tenure) -> None:
    class Broken:
        name = "broken"

        def run(self, budget: Any) -> int:
            raise ValueError("this runner is broken")

    app.runners.append(Broken())
    found = request(TickRoute(app, settings=settings()), headers=SENT)

    assert found.status == 500
    assert found.json()["failed"]


def test_a_route_without_a_token_is_refused(app: Tenure) -> None:
    with pytest.raises(OptionError, match="WORKER_API_SERVICE_TOKEN is not set"):
        TickRoute(app, settings=WorkerSettings())
    with pytest.raises(ValueError, match="at least 16"):
        settings(api_service_token="short")


def test_a_tick_is_cut_short_when_its_server_ends(app: Tenure) -> None:
    refs = app.enqueue_many([app.new("slow") for _ in range(50)])
    route = TickRoute(app, concurrency=1, settings=settings())

    async def stop_in_the_midst() -> Answer:
        client = Client(route, headers=SENT)
        ticking = asyncio.create_task(client.send())
        while not await asyncio.to_thread(lambda: app.insight.counts().get(State.RUNNING)):
            await asyncio.sleep(0)
        route.stop()
        async with asyncio.timeout(10):
            return await ticking

    answer = asyncio.run(stop_in_the_midst())

    assert answer.status == 200
    assert answer.json()["skipped"] == ["pruning"]
    counts = app.insight.counts()
    assert counts.get(State.SUCCEEDED, 0) + counts[State.QUEUED] == len(refs)
    assert counts[State.QUEUED] > 0


def test_a_request_may_name_the_runners(app: Tenure) -> None:
    route = TickRoute(app, settings=settings())

    some = request(route, headers=SENT, query="runners=jobs,pruning")
    none = request(route, headers=SENT, query="runners=jobs,nope")

    assert [one["name"] for one in some.json()["runners"]] == ["jobs", "pruning"]
    assert none.status == 422
    assert "names 'nope'; registered are: schedules, jobs, pruning" in none.json()["detail"]
