"""Woken, not polled: with an hour between polls, jobs run because somebody was told."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from tenure import Fail, JobFilter, RunningJob, Settings, State, Tenure, Worker
from tenure.stores.contract import Claim, ClaimRequest
from tenure.worker.claiming.wake_timer import FREE, SPACING_SECONDS
from tests.support.databases import ServerDatabases
from tests.support.until import until

PATIENCE = 20.0
Looks = list[tuple[frozenset[str], int]]


def make_app(url: str, **settings: Any) -> Tenure:
    """An app whose worker would not look again by itself."""
    app = Tenure(url, settings=Settings(poll_seconds=3_600, **settings))

    @app.job("note")
    async def note(job: RunningJob, text: str) -> str:
        if text == "bad":
            raise Fail("bad")
        return text

    return app


@pytest.fixture
def apps(database_url: str) -> Iterator[Callable[..., Tenure]]:
    made: list[Tenure] = []

    def make(**settings: Any) -> Tenure:
        made.append(make_app(database_url, **settings))
        return made[-1]

    yield make
    for app in made:
        app.close()


@pytest.fixture
def on_postgres(postgres_databases: ServerDatabases) -> Iterator[Callable[..., Tenure]]:
    url, made = postgres_databases.empty(), list[Tenure]()

    def make(**settings: Any) -> Tenure:
        made.append(make_app(url, **settings))
        return made[-1]

    yield make
    for app in made:
        app.close()


@contextmanager
def listening(app: Tenure) -> Iterator[Looks]:
    """A worker that listens and has looked at everything once; what its looks were told, and
    brought."""
    looks: Looks = []
    heard = Counter[str]()
    app.signals.subscribe(lambda name, _: heard.update([name]), "worker.listening")
    claim = app.store.jobs.claim

    def spied(request: ClaimRequest) -> Claim:
        brought = claim(request)
        looks.append((frozenset(request.woken), len(brought.jobs)))
        return brought

    app.store.jobs.claim = spied  # type: ignore[method-assign]
    with Worker(app):
        until(lambda: heard["worker.listening"])
        until(lambda: any(woken for woken, _ in looks))
        yield looks


def done(app: Tenure, job: Any) -> bool:
    return app.wait(job, PATIENCE).state is State.SUCCEEDED


def woken(looks: Looks) -> int:
    return sum(bool(names) for names, _ in looks)


def test_an_enqueue_wakes_the_worker_of_its_own_process(apps: Callable[..., Tenure]) -> None:
    app = apps(wake_channel="")

    with Worker(app):
        for number in range(5):
            assert done(app, app.enqueue("note", {"text": str(number)}))


def test_so_do_a_commit_a_retry_and_a_resumed_queue(apps: Callable[..., Tenure]) -> None:
    app = apps(wake_channel="")

    with Worker(app):
        with app.transaction() as tx:
            inside = tx.enqueue("note", {"text": "both or neither"})
        assert done(app, inside)
        bad = app.enqueue("note", {"text": "bad"})
        assert app.wait(bad, PATIENCE).state is State.FAILED
        app.retry(bad)
        until(lambda: len(app.insight.history(app.get(bad))) == 3)
        app.operator.pause("default")
        later = app.enqueue("note", {"text": "later"})
        app.operator.resume("default")
        assert done(app, later)


def test_on_postgres_another_process_is_woken(on_postgres: Callable[..., Tenure]) -> None:
    there, here = on_postgres(), on_postgres()

    with listening(there) as looks:
        assert done(here, here.enqueue("note", {"text": "a"}))
        assert (frozenset({"default"}), 1) in looks


def test_operators_of_another_process_wake_it_too(on_postgres: Callable[..., Tenure]) -> None:
    there, here = on_postgres(), on_postgres()
    here.operator.pause("default")

    with listening(there):
        waiting = here.enqueue("note", {"text": "bad"})
        here.operator.resume("default")
        assert here.wait(waiting, PATIENCE).state is State.FAILED
        here.operator.replay(JobFilter(ids=(waiting.id,)))
        until(lambda: len(here.insight.history(here.get(waiting))) == 3)


def test_a_listener_that_was_cut_off_listens_again_and_looks_once(
    on_postgres: Callable[..., Tenure],
) -> None:
    there, silent, here = on_postgres(), on_postgres(wake_channel=""), on_postgres()
    failed = threading.Event()
    there.signals.subscribe(lambda *_: failed.set(), "wake.failed")

    with listening(there):
        missed = silent.enqueue("note", {"text": "nobody says so"})
        with psycopg.connect(there.url, autocommit=True) as connection:
            ended = connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE query LIKE 'LISTEN%' AND datname = current_database()"
            ).fetchall()
        assert len(ended) == 1
        assert done(here, missed)
        assert failed.wait(PATIENCE)
        assert done(here, here.enqueue("note", {"text": "heard again"}))


def test_junk_and_queues_of_others_are_ignored(on_postgres: Callable[..., Tenure]) -> None:
    there, here = on_postgres(), on_postgres()
    junk = ["", "x", "null", "{}", "[1, null]", '["other"]', "[[[", '"default"', "\x01" * 500]

    with listening(there) as looks, psycopg.connect(there.url, autocommit=True) as connection:
        before = woken(looks)
        for text in junk:
            connection.execute("SELECT pg_notify('tenure', %s)", [text])
        assert done(here, here.enqueue("note", {"text": "a"}))
        assert woken(looks) == before + 1


def test_a_flood_is_a_trickle_of_claims(on_postgres: Callable[..., Tenure]) -> None:
    there, here = on_postgres(), on_postgres()
    flood = """SELECT pg_notify('tenure', '["default", "' || n || '"]')
        FROM generate_series(1, 1000) n"""

    with listening(there) as looks, psycopg.connect(there.url, autocommit=True) as connection:
        before, begun = woken(looks), time.monotonic()
        for _ in range(20):
            connection.execute(flood)
        assert done(here, here.enqueue("note", {"text": "a"}))
        elapsed = time.monotonic() - begun
        assert before < woken(looks) <= before + 2 * FREE + 2 + elapsed / SPACING_SECONDS
