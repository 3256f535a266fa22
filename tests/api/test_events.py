"""Events as they happen: in order, coalesced, resumed, bounded, ended."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from tenure import Job, RunningJob, Tenure, Worker
from tenure.access import Keys, Permission
from tenure.api import ApiSettings, create_api
from tenure.api.events import client_list, clients, hints, hub
from tenure.api.events.frames import RETRY
from tenure.api.events.stream import Pace, stream_all, stream_job
from tenure.asgi import WaitRoute
from tenure.asgi.messages import Scope
from tenure.testing import run_until_idle
from tests.api.conftest import Serve, Served, listening
from tests.api.streams import Told, events_async, stream
from tests.api.test_bad_input import check_problem
from tests.asgi.driver import Answer, Client
from tests.support.databases import ServerDatabases
from tests.support.until import until


@pytest.fixture
def go_on() -> threading.Event:
    return threading.Event()


@pytest.fixture
def engine(engine: Tenure, go_on: threading.Event) -> Iterator[Tenure]:
    @engine.job("quick")
    def quick(job: RunningJob) -> None:
        job.log("hello")

    @engine.job("slow")
    def slow(job: RunningJob) -> int:
        job.log("begun")
        job.progress(0.5, "half")
        assert go_on.wait(20)
        job.log("done")
        return 1

    yield engine
    go_on.set()


@pytest.fixture
def served(serve: Serve) -> Served:
    return serve(events_seconds=0.05, heartbeat_seconds=0.2)


def until_state(told: Iterator[Told], state: str) -> list[Told]:
    """Events up to the one that tells of this state."""
    found = []
    for one in told:
        found.append(one)
        if one.name == "job" and one.data["state"] == state:
            return found
    raise AssertionError(f"the stream ended before {state}: {found}")


def test_a_job_is_followed_to_its_end(served: Served, go_on: threading.Event) -> None:
    ref = served.engine.enqueue("slow")
    with stream(served, f"/api/jobs/{ref.id}/events") as told, Worker(served.engine):
        first = next(told)
        assert (first.name, first.data["state"]) == ("job", "queued")
        half = next(one for one in told if one.data.get("progress") == 0.5)
        assert half.data["progressNote"] == "half"
        go_on.set()
        rest = list(told)

    assert [one.name for one in rest][-1] == "end"
    assert [one.data["message"] for one in rest if one.name == "log"][-1:] == ["done"]
    assert [one.data["state"] for one in rest if one.name == "job"][-1:] == ["succeeded"]


def test_a_stream_of_a_job_goes_on_where_it_was_in_any_process(served: Served) -> None:
    ref = served.engine.enqueue("quick")
    with stream(served, f"/api/jobs/{ref.id}/events") as told:
        seen = str(next(told).id)
    run_until_idle(served.engine)

    with stream(served, f"/api/jobs/{ref.id}/events", **{"last-event-id": seen}) as told:
        rest = list(told)
    assert [one.name for one in rest] == ["log", "job", "end"]
    last = str(rest[1].id)
    again = served.get(f"/api/jobs/{ref.id}/events", headers={"last-event-id": last})
    assert again.status_code == 204


@pytest.mark.parametrize("odd", ["", "x", "-1.x", "99999999.x", "1", "\u0661".encode().hex()])
def test_whatever_a_client_says_it_gets_the_rest(served: Served, odd: str) -> None:
    ref = served.engine.enqueue("quick")
    run_until_idle(served.engine)
    with stream(served, f"/api/jobs/{ref.id}/events", **{"last-event-id": odd}) as told:
        assert [one.name for one in told][-2:] == ["job", "end"]


def test_everything_is_told_once_it_changes(served: Served) -> None:
    served.engine.enqueue("quick")
    with stream(served, "/api/events") as told:
        assert next(told).name == "ready"
        ref = served.engine.enqueue("quick")
        assert next(told).data["jobId"] == ref.id
        with Worker(served.engine):
            found = until_state(told, "succeeded") + until_state(told, "succeeded")

    assert {one.data["jobId"] for one in found} == {"1", "2"}


@pytest.mark.parametrize("watched", [False, True])
def test_who_was_away_while_nobody_looked_is_told_to_read_the_lists(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, watched: bool
) -> None:
    """With somebody who watches one job the reader goes on, but not with all jobs."""
    monkeypatch.setattr(client_list, "LINGER_SECONDS", 0.0)
    served = serve(events_seconds=0.05)
    reader = served.api.state.service.hub
    ref = served.engine.enqueue("slow")
    with ExitStack() as stack:
        if watched:
            stack.enter_context(other_stream(served, f"/api/jobs/{ref.id}/events"))
        with stream(served, "/api/events") as told:
            assert next(told).name == "ready"
            served.engine.enqueue("quick")
            seen = next(told)
        until(lambda: not reader._looked.is_set() if watched else reader._reading.done())
        served.engine.enqueue("quick")

        with stream(served, "/api/events", **{"last-event-id": str(seen.id)}) as told:
            assert next(told).name == "reset"


@contextmanager
def other_stream(served: Served, path: str) -> Iterator[None]:
    """Somebody else, who has got the first event."""
    with stream(served, path) as told:
        next(told)
        yield


def test_old_jobs_are_told_of_too_where_somebody_says_so(served: Served) -> None:
    old = served.engine.enqueue("slow")
    served.engine.enqueue_many([served.engine.new("other") for _ in range(600)])
    with stream(served, "/api/events") as told:
        assert next(told).name == "ready"
        served.post(f"/api/jobs/{old.id}/cancel")
        assert next(told).data["state"] == "canceled"
        served.post(f"/api/jobs/{old.id}/retry")
        assert next(told).data["state"] == "queued"


def test_ends_in_other_processes_are_told_where_the_database_carries_them(
    postgres_databases: ServerDatabases, tmp_path: Path
) -> None:
    """The job is older than the newest that a look reads, and ends between two looks."""
    url = postgres_databases.empty(tmp_path)
    with closing(Tenure(url)) as here, closing(Tenure(url)) as elsewhere:
        elsewhere.job("quick")(nothing)
        old = elsewhere.enqueue("quick", delay=3_600)
        elsewhere.enqueue_many([elsewhere.new("other") for _ in range(600)])
        api = create_api(here, settings=ApiSettings(events_seconds=0.05))
        with ExitStack() as stack:
            address = stack.enter_context(listening(api))
            served = stack.enter_context(client_of(here, api, address))
            told = stack.enter_context(stream(served, "/api/events"))
            stack.enter_context(Worker(elsewhere))
            assert next(told).name == "ready"
            until(lambda: elsewhere.store.wakeups.ended_jobs._asked)
            elsewhere.retry(old)
            assert until_state(told, "succeeded")[-1].data["jobId"] == old.id


def nothing(job: RunningJob) -> None:
    pass


@contextmanager
def client_of(engine: Tenure, api: FastAPI, url: str) -> Iterator[Served]:
    with httpx.Client(base_url=url, timeout=20) as client:
        served = Served(engine, api, client, url)
        client.headers.update(served.key("read"))
        yield served


def test_a_stream_of_all_goes_on_behind_the_last_event(served: Served) -> None:
    with stream(served, "/api/events") as told:
        seen = str(next(told).id)
    first = served.engine.enqueue("quick")
    second = served.engine.enqueue("quick")
    until(lambda: served.api.state.service.hub._recent.mark.endswith("-2"))

    with stream(served, "/api/events", **{"last-event-id": seen}) as told:
        found = [next(told) for _ in range(3)]
    assert [one.name for one in found] == ["ready", "job", "job"]
    assert [one.data["jobId"] for one in found[1:]] == [first.id, second.id]
    for lost in ("0badf00d-1", seen.replace("-0", "-99"), "x"):
        with stream(served, "/api/events", **{"last-event-id": lost}) as told:
            assert next(told).name == "reset"


def test_nobody_hears_of_others_jobs(served: Served) -> None:
    acme = served.key("read", tenant="acme")
    with stream(served, "/api/events?kind=quick", **acme) as told:
        next(told)
        served.engine.enqueue("quick", tenant="globex")
        served.engine.enqueue("slow", tenant="acme")
        mine = served.engine.enqueue("quick", tenant="acme")
        assert next(told).data["jobId"] == mine.id
    other = served.engine.enqueue("quick", tenant="globex")
    path = f"/api/jobs/{other.id}/events"
    check_problem(served.get(path, headers=acme), 404, "job-not-found")


def test_a_silent_stream_says_that_it_is_there(served: Served) -> None:
    with served.client.stream("GET", "/api/events") as answer:
        assert ": ping" in answer.iter_lines()


def test_streams_are_bounded_in_number_and_time(serve: Serve) -> None:
    served = serve(events_clients=1, stream_seconds=0.5)
    with stream(served, "/api/events") as told:
        next(told)
        check_problem(served.get("/api/events"), 503, "too-many-streams")
        assert list(told) == []


def test_a_slow_client_is_told_to_look_for_itself(
    engine: Tenure, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clients, "MOST_WAITING", 3)
    engine.enqueue_many([engine.new("quick") for _ in range(9)])
    jobs = engine.insight.page().rows

    def event(number: int, job: Job) -> clients.Event:
        return clients.Event(number, f"m{number}", job, f"f{number};".encode())

    async def offer() -> tuple[list[bytes], list[bytes]]:
        client = clients.AllClient(lambda job: True)
        client.offer([event(number, jobs[number]) for number in range(3)])
        client.offer([event(3, jobs[0])])
        kept = client.take()
        client.offer([event(number, jobs[number]) for number in range(9)])
        return kept, client.take()

    kept, lost = asyncio.run(offer())
    assert kept == [b"f1;", b"f2;", b"f3;"]
    assert lost == [b"id: m8\nevent: reset\ndata: {}\n\n"]


def test_too_much_at_once_is_said_to_be_too_much(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hints, "MOST", 20)
    with stream(served, "/api/events") as told:
        next(told)
        served.engine.enqueue_many([served.engine.new("quick") for _ in range(50)])
        assert any(one.name == "reset" for one in told)


def test_two_hundred_clients_hear_everything_from_one_reader(served: Served) -> None:
    with Worker(served.engine):
        heard = asyncio.run(listen(served, clients=200, jobs=20))

    assert heard == [{str(number) for number in range(1, 21)}] * 200
    hub = served.api.state.service.hub
    until(lambda: len(hub) == 0)


async def listen(served: Served, *, clients: int, jobs: int) -> list[set[str]]:
    """Which jobs each client saw succeed."""
    ready = asyncio.Semaphore(0)

    async def one(client: httpx.AsyncClient) -> set[str]:
        found: set[str] = set()
        async with client.stream("GET", "/api/events") as answer:
            async for told in events_async(answer):
                if told.name == "ready":
                    ready.release()
                elif told.data.get("state") == "succeeded":
                    found.add(told.data["jobId"])
                if len(found) == jobs:
                    break
        return found

    limits = httpx.Limits(max_connections=None)
    headers = dict(served.client.headers)
    async with httpx.AsyncClient(
        base_url=served.url, headers=headers, timeout=60, limits=limits
    ) as client:
        listening = [asyncio.create_task(one(client)) for _ in range(clients)]
        for _ in range(clients):
            await ready.acquire()
        new = [served.engine.new("quick") for _ in range(jobs)]
        await asyncio.to_thread(served.engine.enqueue_many, new)
        return list(await asyncio.gather(*listening))


def test_shutdown_ends_every_stream(engine: Tenure) -> None:
    ref = engine.enqueue("quick")
    api = create_api(engine)
    key, _ = Keys(engine).create("test", Permission.READ, actor="test")
    headers = {"authorization": f"Bearer {key}"}
    told: list[str] = []

    def follow(url: str, path: str) -> None:
        with httpx.stream("GET", f"{url}{path}", headers=headers, timeout=30) as answer:
            told.extend(answer.iter_lines())

    with ThreadPoolExecutor(3) as pool:
        with listening(api) as url:
            paths = ["/api/events", f"/api/jobs/{ref.id}/events", f"/api/jobs/{ref.id}/wait"]
            followers = [pool.submit(follow, url, path) for path in paths]
            until(lambda: len(api.state.service.hub) == 2 and len(engine.waiters) == 1)
        for one in followers:
            one.result(10)


@pytest.mark.parametrize("turns", range(8))
def test_the_reader_ends_however_close_a_newcomer_is_to_the_end(engine: Tenure, turns: int) -> None:
    """Somebody rings the bell, and so many turns of the loop later the service ends."""

    async def close() -> None:
        made = hub.Hub(engine, seconds=60, most=10)
        await made.watch_all(lambda job: True, None)
        while made._bell.is_set() or not made._bell._waiters:
            await asyncio.sleep(0)
        made.watch(clients.JobClient("1", None))
        for _ in range(turns):
            await asyncio.sleep(0)
        async with asyncio.timeout(5) as limit:
            await made.close()
        assert not limit.expired()

    asyncio.run(close())


def test_a_stream_that_opens_after_the_end_ends_at_once(engine: Tenure) -> None:
    """It was let in before, and asks for its first part afterwards."""
    ref = engine.enqueue("quick")
    pace = Pace(heartbeat_seconds=60, stream_seconds=60)

    async def open_late() -> list[list[bytes]]:
        made = hub.Hub(engine, seconds=60, most=10)
        made.check_room()
        await made.close()
        streams = [
            stream_all(made, lambda job: True, None, pace),
            stream_job(made, clients.JobClient(ref.id, None), pace),
        ]
        async with asyncio.timeout(10):
            return [[part async for part in one] for one in streams]

    assert asyncio.run(open_late()) == [[RETRY], [RETRY]]


def test_a_wait_that_begins_after_the_end_is_answered_at_once(engine: Tenure) -> None:
    ref = engine.enqueue("quick")

    async def wait_late() -> Answer:
        api = create_api(engine)
        service = api.state.service
        await service.hub.close()

        async def named(scope: Scope) -> str:
            return ref.id

        route = WaitRoute(engine, named, closing=lambda: service.hub.closing)
        async with asyncio.timeout(10):
            return await Client(route, method="GET", query="waitMs=30000").send()

    assert asyncio.run(wait_late()).json()["status"] == "PENDING"


def test_a_wait_is_answered_when_the_job_has_ended(served: Served) -> None:
    ref = served.engine.enqueue("quick")
    pending = served.get(f"/api/jobs/{ref.id}/wait?waitMs=0")
    run_until_idle(served.engine)
    ready = served.get(f"/api/jobs/{ref.id}/wait", headers={"prefer": "wait=5"})
    gone = served.engine.enqueue("quick")
    served.engine.cancel(gone)
    failed = served.get(f"/api/jobs/{gone.id}/wait")

    assert (pending.status_code, pending.json()["status"]) == (202, "PENDING")
    assert pending.headers["retry-after"] == "2"
    assert (ready.status_code, ready.json()["status"]) == (200, "READY")
    assert ready.headers["preference-applied"] == "wait=5"
    assert (failed.status_code, failed.json()["state"]) == (422, "canceled")
    check_problem(served.get("/api/jobs/99/wait"), 404, "job-not-found")
    check_problem(served.get(f"/api/jobs/{ref.id}/wait?waitMs=soon"), 400, "bad-wait")
