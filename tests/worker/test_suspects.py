"""Suspects that run alone in their worker: nothing that has not begun is there with them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Unpack

import pytest

from tenure import Job, RunningJob, Settings, Snooze, State, StoreUnavailable, Tenure, Worker
from tenure.jobs.options import Options
from tenure.stores.contract import ClaimRequest
from tests.support.databases import Databases
from tests.support.until import until

SUSPECTS = 5


@pytest.fixture
def app(databases: Databases, tmp_path: Path) -> Iterator[Tenure]:
    made = Tenure(databases.empty(tmp_path), settings=Settings(auto_migrate=True))
    yield made
    made.close()


def begun(
    app: Tenure, kind: str, count: int, seconds: float, **options: Unpack[Options]
) -> list[str]:
    """Jobs of a worker that will not be heard of again."""
    ids = [ref.id for ref in app.enqueue_many([app.new(kind, **options) for _ in range(count)])]
    dead = ClaimRequest(owner="dead", kinds=[kind], slots={"default": count}, lease_seconds=seconds)
    assert len(app.store.jobs.claim(dead).jobs) == count
    return ids


def suspects(app: Tenure, kind: str, count: int = SUSPECTS) -> list[str]:
    """Jobs that were at work when their worker died."""
    ids = begun(app, kind, count, 0.2)
    nobody = ClaimRequest(owner="other", kinds=[kind], slots={}, lease_seconds=30, thorough=True)
    until(lambda: app.store.jobs.claim(nobody).released)
    return ids


def test_a_worker_holds_nothing_else_while_a_suspect_runs_alone(app: Tenure) -> None:
    held: list[list[Job]] = []

    @app.job("one")
    def one(job: RunningJob) -> None:
        held.append([row for row in app.insight.stream() if row.lease_until and row.id != job.id])

    @app.job("fresh")
    def fresh(job: RunningJob) -> None: ...

    ids = suspects(app, "one")
    ids += [ref.id for ref in app.enqueue_many([app.new("fresh") for _ in range(SUSPECTS)])]
    with Worker(app, concurrency=10):
        until(lambda: all(app.get(one).state is State.SUCCEEDED for one in ids))

    assert held == [[]] * SUSPECTS


def test_a_suspect_whose_row_cannot_say_that_it_is_alone_goes_back(
    app: Tenure, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []
    refused: list[Any] = []
    report = app.store.jobs.report

    def refuse_once(reports: Any) -> Any:
        if reports[0].alone and not refused:
            refused.extend(reports)
            raise StoreUnavailable("not now")
        return report(reports)

    @app.job("one")
    def one(job: RunningJob) -> None:
        ran.append(job.id)

    [suspect] = suspects(app, "one", 1)
    monkeypatch.setattr(app.store.jobs, "report", refuse_once)
    with Worker(app):
        until(lambda: app.get(suspect).state is State.SUCCEEDED)

    assert len(refused) == 1
    assert ran == [suspect]


def test_what_ends_is_written_while_a_suspect_waits_for_its_turn(app: Tenure) -> None:
    gates = {"short": threading.Event(), "long": threading.Event()}

    @app.job("gated")
    def gated(job: RunningJob, gate: str) -> None:
        gates[gate].wait(60)

    @app.job("one")
    def one(job: RunningJob) -> None: ...

    [suspect] = begun(app, "one", 1, 2)
    short, long = (app.enqueue("gated", {"gate": gate}) for gate in gates)
    with Worker(app, concurrency=10):
        until(lambda: app.get(suspect).lease_owner not in ("dead", None))
        gates["short"].set()
        try:
            until(lambda: app.get(short).state is State.SUCCEEDED)
            assert app.get(long).state is State.RUNNING
        finally:
            gates["long"].set()
        until(lambda: app.get(suspect).state is State.SUCCEEDED)


def test_a_job_that_is_given_back_before_it_began_is_no_run(app: Tenure) -> None:
    told: list[Any] = []
    app.signals.subscribe(
        lambda name, facts: told.extend(facts["batch"]) if name == "jobs.settled" else None
    )

    @app.job("one")
    def one(job: RunningJob) -> None: ...

    ids = suspects(app, "one")
    with Worker(app, concurrency=10):
        until(lambda: all(app.get(one).state is State.SUCCEEDED for one in ids))

    assert [settled.settlement.state for settled in told] == [State.SUCCEEDED] * SUSPECTS


def test_a_suspect_that_began_in_time_does_not_expire(app: Tenure) -> None:
    @app.job("one")
    def one(job: RunningJob) -> None: ...

    [suspect] = begun(app, "one", 1, 1, expires=0.9)
    with Worker(app):
        until(lambda: app.get(suspect).state.final)

    assert app.get(suspect).state is State.SUCCEEDED


def test_a_job_that_snoozes_over_its_time_does_not_expire(app: Tenure) -> None:
    @app.job("later")
    def later(job: RunningJob) -> str:
        if not app.insight.history(app.get(job.id)):
            raise Snooze(1)
        return "late"

    ref = app.enqueue("later", expires=0.9)
    with Worker(app):
        until(lambda: app.get(ref).state.final)

    assert app.get(ref).result == "late"
