"""Order: the events of an aggregate come one at a time, as they were committed, end to end."""

from __future__ import annotations

import random
import threading
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tenure import Delays, RunningJob, Settings, State, Tenure, Worker
from tenure.features.outbox import Event, Outbox, Status
from tests.features.outbox.conftest import Make, Program
from tests.support.databases import Databases
from tests.support.until import until

AGGREGATES, EVENTS, PRODUCERS = 6, 10, 4
Order = dict[str, list[str]]


@pytest.fixture
def fleet(databases: Databases, tmp_path: Path) -> Iterator[list[Tenure]]:
    """Three programs on the database's own clock."""
    url = databases.empty(tmp_path)
    apps = [Tenure(url, settings=Settings(poll_seconds=0.05)) for _ in range(3)]
    yield apps
    for app in apps:
        app.close()


def produce(outbox: Outbox, app: Tenure, seed: int, committed: Order) -> None:
    """Publishing keeps the key until the commit, so these notes are in the order of commits."""
    chance = random.Random(seed)
    for number in range(AGGREGATES * EVENTS // PRODUCERS):
        aggregate = str((number + seed) % AGGREGATES)
        type = chance.choice(("opened", "changed"))
        with app.transaction() as tx:
            ref = outbox.publish(tx, type, aggregate=("Account", aggregate))
            committed[aggregate].append(ref.id)


def subscribe(outbox: Outbox, got: Order, again: set[str]) -> None:
    """Every fifth event fails at first."""

    def note(job: RunningJob, event: Event) -> None:
        if len(again) < AGGREGATES * EVENTS // 5 and event.id not in again:
            again.add(event.id)
            raise RuntimeError
        got[event.aggregate_id or ""].append(event.id)

    for type in ("opened", "changed"):
        outbox.on(type, subscriber="ledger", ordered=True, retry=Delays(0, 0, 0))(note)


def test_events_arrive_in_the_order_of_commits_through_failures_and_many_hands(
    fleet: list[Tenure],
) -> None:
    committed: Order = defaultdict(list)
    got: Order = defaultdict(list)
    again: set[str] = set()
    outboxes = [Outbox(app) for app in fleet]
    for app, outbox in zip(fleet, outboxes, strict=True):
        app.include(outbox)
        subscribe(outbox, got, again)
    with Worker(fleet[1]), Worker(fleet[2]):
        producers = [
            threading.Thread(target=produce, args=(outboxes[0], fleet[0], seed, committed))
            for seed in range(PRODUCERS)
        ]
        for one in producers:
            one.start()
        for one in producers:
            one.join()
        until(lambda: sum(map(len, got.values())) >= AGGREGATES * EVENTS, 60)

    assert got == committed
    assert len(again) == AGGREGATES * EVENTS // 5


def booking(app: Tenure, booked: list[str]) -> Outbox:
    """Every account that is opened is booked, by an event of the same account."""
    outbox = Outbox(app)
    app.include(outbox)

    @outbox.on("opened", subscriber="ledger", ordered=True)
    def book(job: RunningJob, event: Event) -> None:
        with job.settle() as tx:
            outbox.publish(tx, "booked", aggregate=event.aggregate)

    @outbox.on("booked", subscriber="ledger", ordered=True)
    def note(job: RunningJob, event: Event) -> None:
        booked.append(event.id)

    return outbox


def test_a_subscriber_may_publish_for_the_aggregate_that_it_is_ordered_by(
    fleet: list[Tenure],
) -> None:
    """Dispatching and settling need the same lock, so nobody waits in a circle."""
    booked: list[str] = []
    outboxes = [booking(app, booked) for app in fleet]
    outbox = outboxes[0]
    wanted = [outbox.event("opened", aggregate=("Account", n % 20)) for n in range(60)]
    outbox.publish_many(None, wanted)
    with Worker(fleet[1]), Worker(fleet[2]):
        until(lambda: len(booked) >= 60, 60)

    assert [job.attempt for job in fleet[0].insight.stream() if job.attempt > 1] == []


@pytest.mark.parametrize(("rule", "later"), [("block", []), ("skip", [("ledger", 2)])])
def test_a_delivery_that_fails_for_good_blocks_its_aggregate_or_is_skipped(
    program: Program, rule: str, later: list[Any]
) -> None:
    program.subscribe("opened", "ledger", ordered=True, on_failure=rule, retry=Delays())
    program.subscribe("opened", "mailer")
    for number in (1, 2):
        data: Any = {"fails": "ledger"} if number == 1 else number
        program.outbox.publish(None, "opened", aggregate=("Account", 7), data=data)
    program.outbox.publish(None, "opened", aggregate=("Account", 8), data=8)
    program.run()

    mine = [(name, data) for name, data in program.got if name == "ledger"]
    assert sorted(mine, key=str) == sorted([*later, ("ledger", 8)], key=str)
    assert len(program.got) - len(mine) == 3
    failed = [row for row in program.outbox.events() if row.status is Status.FAILED]
    assert [row.subscriber for row in failed] == ["ledger"]

    if rule == "block":
        program.app.cancel(failed[0].id)
        program.run()
        assert ("ledger", 2) in program.got


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
def test_order_is_not_paid_for_where_nobody_asks(make: Make) -> None:
    program = make()
    program.subscribe("opened")
    for ordered in (True, False):
        program.outbox.publish(None, "opened", aggregate=("Account", 7), ordered=ordered)
    program.outbox.publish(None, "opened")
    program.run()

    jobs = list(program.app.insight.stream())
    assert {job.state for job in jobs} == {State.SUCCEEDED}
    assert [job.ordering_key for job in jobs if job.ordering_key] == ["Account/7##outbox"]


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
def test_an_aggregate_with_a_long_name_has_an_order_too(program: Program) -> None:
    program.subscribe("opened", "ledger", ordered=True)
    name = ("A" * 100, "é" * 200)
    for number in range(3):
        program.outbox.publish(None, "opened", aggregate=name, data=number)
    program.run()

    assert [data for _, data in program.got] == [0, 1, 2]
    keys = {job.ordering_key for job in program.app.insight.stream()}
    assert len(keys) == 2
    assert all(str(key).startswith("sha256:") for key in keys)
