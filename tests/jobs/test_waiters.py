"""Waiting for jobs: answered at their end, together, and always."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from tenure import (
    Fail,
    JobNotFound,
    OptionError,
    RunningJob,
    Settings,
    State,
    StoreUnavailable,
    Tenure,
    Worker,
)
from tenure.stores.sql.statement import Rows, Statement
from tests.support.databases import ServerDatabases
from tests.support.until import until

Apps = Callable[..., Tenure]
LONG = 60.0


@pytest.fixture
def apps(database_url: str) -> Iterator[Apps]:
    with_apps = Made(database_url)
    yield with_apps
    with_apps.close()


@pytest.fixture
def on_postgres(postgres_databases: ServerDatabases) -> Iterator[Apps]:
    with_apps = Made(postgres_databases.empty())
    yield with_apps
    with_apps.close()


class Made:
    """Apps on one database, as if each were in a process of its own."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._made: list[Tenure] = []

    def __call__(self, **settings: Any) -> Tenure:
        app = Tenure(self._url, settings=Settings(**settings))
        gate = threading.Event()
        app.gate = gate  # type: ignore[attr-defined]

        @app.job("note")
        async def note(job: RunningJob, text: str) -> str:
            if text == "bad":
                raise Fail("bad")
            return text

        @app.job("held")
        def held(job: RunningJob) -> None:
            gate.wait(LONG)

        self._made.append(app)
        return app

    def close(self) -> None:
        for app in self._made:
            app.gate.set()  # type: ignore[attr-defined]
            app.close()


def spied(app: Tenure) -> Counter[str]:
    """Statements that the app's store runs from now on."""
    names, database = Counter[str](), app.store.database  # type: ignore[attr-defined]
    execute = database.execute

    def noted(connection: Any, statement: Statement) -> Rows:
        names[statement.name] += 1
        found: Rows = execute(connection, statement)
        return found

    database.execute = noted
    return names


def test_the_end_of_a_job_answers_whoever_waits(apps: Apps) -> None:
    there, here = apps(), apps()

    with Worker(there):
        assert here.wait(here.enqueue("note", {"text": "a"}), LONG).value == "a"
        assert here.wait(here.enqueue("note", {"text": "bad"}), LONG).state is State.FAILED
        ref = here.enqueue("note", {"text": "later"}, delay=3_600)
        assert here.wait(ref, 0.05).state is State.QUEUED
        here.cancel(ref)
        assert here.wait(ref, LONG).state is State.CANCELED
    assert len(here.waits) == 0


@pytest.mark.parametrize("seconds", [float("nan"), None, "5", True])
def test_a_time_that_never_comes_is_refused(apps: Apps, seconds: Any) -> None:
    app = apps()
    with pytest.raises(OptionError, match="wait takes a number of seconds, not"):
        app.wait(app.enqueue("work"), seconds)
    assert len(app.waits) == 0


def test_no_job_no_wait(apps: Apps) -> None:
    app = apps()

    for name in ("17", "x", ""):
        with pytest.raises(JobNotFound):
            app.wait(name, LONG)


def test_on_postgres_the_worker_tells_and_nobody_polls(
    on_postgres: Apps, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tenure.jobs.waiters.TOLD_PAUSE", 3_600.0)
    there, here = on_postgres(), on_postgres()

    async def all_of_them(refs: list[Any]) -> list[State]:
        waits = [asyncio.ensure_future(here.wait_async(ref, LONG)) for ref in refs]
        await asyncio.to_thread(until, lambda: len(here.waits) == len(refs))
        await asyncio.to_thread(until, lambda: here.waits._told)
        await asyncio.to_thread(here.enqueue, "note", {"text": "first"})
        there.gate.set()  # type: ignore[attr-defined]
        return [job.state for job in await asyncio.gather(*waits)]

    with Worker(there, concurrency=20):
        assert here.wait(here.enqueue("note", {"text": "warm"}), LONG).value == "warm"
        refs = here.enqueue_many([here.new("held") for _ in range(200)])
        looked = spied(here)
        assert set(asyncio.run(all_of_them(refs))) == {State.SUCCEEDED}
    assert looked["get_jobs"] <= 200


def test_an_end_before_the_question_is_told_too(
    on_postgres: Apps, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look that came too early would wait for an hour, were the worker not to remember."""
    monkeypatch.setattr("tenure.jobs.waiters.TOLD_PAUSE", 3_600.0)
    there, here = on_postgres(), on_postgres()

    with Worker(there, concurrency=50):
        assert here.wait(here.enqueue("note", {"text": "warm"}), LONG).value == "warm"
        until(lambda: here.waits._told)
        for number in range(100):
            ref = here.enqueue("note", {"text": str(number)})
            assert here.wait(ref, LONG).value == str(number)


def test_five_connections_are_enough_for_a_thousand(on_postgres: Apps) -> None:
    there, here = on_postgres(), on_postgres()
    named = f"{here.url}?application_name=waiting"
    here = Made(named)()
    refs = here.enqueue_many([here.new("held") for _ in range(1_000)])

    async def all_of_them() -> list[State]:
        waits = [asyncio.ensure_future(here.wait_async(ref, LONG)) for ref in refs]
        await asyncio.to_thread(until, lambda: len(here.waits) == 1_000)
        there.gate.set()  # type: ignore[attr-defined]
        found = await asyncio.gather(*waits)
        return [job.state for job in found]

    with Worker(there, concurrency=50):
        looked = spied(here)
        assert set(asyncio.run(all_of_them())) == {State.SUCCEEDED}
        with psycopg.connect(there.url, autocommit=True) as connection:
            [[count]] = connection.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'waiting'"
            ).fetchall()
    assert count <= 5
    assert sum(looked.values()) <= 3 * 1_000
    here.close()


def test_everybody_is_answered_at_shutdown(apps: Apps) -> None:
    app = apps()
    refs = app.enqueue_many([app.new("held") for _ in range(20)])

    with ThreadPoolExecutor(20) as pool:
        waits = [pool.submit(app.wait, ref, 3_600.0) for ref in refs]
        until(lambda: len(app.waits) == 20)
        app.close()
        assert {wait.result(LONG).state for wait in waits} == {State.QUEUED}
    assert app.wait(refs[0], 0.01).state is State.QUEUED


def test_one_who_gives_up_is_gone(apps: Apps) -> None:
    app = apps()
    ref = app.enqueue("held")

    async def give_up() -> None:
        wait = asyncio.ensure_future(app.wait_async(ref, 3_600.0))
        await asyncio.to_thread(until, lambda: len(app.waits) == 1)
        wait.cancel()
        with pytest.raises(asyncio.CancelledError):
            await wait
        assert len(app.waits) == 0

    asyncio.run(give_up())


def test_a_database_that_stays_away_is_said_at_the_end(
    apps: Apps, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = apps()
    ref = app.enqueue("held")

    def away(ids: Any) -> Any:
        raise StoreUnavailable("gone")

    monkeypatch.setattr(app.store.jobs, "look", away)
    with pytest.raises(StoreUnavailable, match="gone"):
        app.wait(ref, 0.1)
