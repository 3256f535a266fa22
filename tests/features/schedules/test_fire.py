"""A slot fires once: dead replicas at every step, several at once, rows that were set back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from tenure import Tenure
from tenure.core.filter import JobFilter
from tenure.core.job import FINAL_STATES
from tenure.features.schedules import Schedules
from tenure.features.schedules.fire import LOCK_SECONDS
from tenure.stores.contract import Change, Move
from tenure.stores.contract.parts import Record
from tenure.testing.clock import ManualClock
from tenure.testing.conformance.promise import promise
from tenure.testing.conformance.steps import at_once
from tests.features.schedules.conftest import Make, nightly, run, slots
from tests.features.schedules.dying import STEPS, Killed, dies_after

DAY = 86_400
ALL = partial(nightly, catch_up="all")


@promise(10)
@pytest.mark.parametrize("step", STEPS)
def test_a_replica_that_dies_at_any_step_neither_loses_nor_doubles_a_slot(
    make: Make, clock: ManualClock, step: str
) -> None:
    doomed, heir = make(ALL), make(ALL)
    run(heir)
    clock.advance(seconds=2 * DAY)
    dies_after(doomed, step)

    with pytest.raises(Killed):
        run(doomed)
    run(heir)
    clock.advance(seconds=LOCK_SECONDS + 1)
    run(heir)

    assert slots(heir) == ["2026-01-01T01:30:00+00:00", "2026-01-02T01:30:00+00:00"]
    assert Schedules.of(heir).get("nightly").next_at > clock.now()


@promise(10)
def test_of_many_replicas_at_once_one_fires(make: Make, clock: ManualClock) -> None:
    apps = [make(ALL) for _ in range(4)]
    for app in apps:
        run(app)
    clock.advance(seconds=DAY)

    answers = at_once(4, lambda number: run(apps[number]))

    assert sorted(map(str, answers)) == ["0", "0", "0", "1"]
    assert len(slots(apps[0])) == 1


@promise(10)
def test_without_the_lock_the_version_decides(make: Make, clock: ManualClock) -> None:
    first, second = make(ALL), make(ALL)
    run(first)
    clock.advance(seconds=DAY)

    def overtake() -> None:
        for lock in first.store.locks.list():  # its lease is over
            first.store.locks.release(lock)
        assert run(first) == 1

    before_transaction(second, overtake)

    assert run(second) == 0
    assert len(slots(first)) == 1
    assert Schedules.of(first).get("nightly").fired == 1


def before_transaction(app: Tenure, step: Callable[[], None]) -> None:
    begin = app.store.transaction

    def begun() -> Any:
        del vars(app.store)["transaction"]
        step()
        return begin()

    vars(app.store)["transaction"] = begun


@promise(10)
@pytest.mark.parametrize("edited", [False, True], ids=["same payload", "other payload"])
def test_a_row_that_was_set_back_fires_nothing_again(
    make: Make, clock: ManualClock, edited: bool
) -> None:
    app = make(partial(ALL, payload={"n": 1}), keep_seconds=DAY)
    run(app)
    before = Schedules.of(app).get("nightly")
    clock.advance(seconds=3 * DAY)
    assert run(app) == 3
    finish_and_purge(app, clock)

    if edited:
        before = before.edit({"payload": {"n": 2}})
    app.store.records.upsert(before.to_record())

    assert run(app) <= 10
    assert len(set(slots(app))) == len(slots(app))
    assert "2026-01-01T01:30:00+00:00" not in slots(app)


def finish_and_purge(app: Tenure, clock: ManualClock) -> None:
    app.operator.move_all(JobFilter(kinds=("nightly",)), Change(move=Move.CANCEL))
    clock.advance(seconds=10 * DAY)
    removed = app.operator.purge(JobFilter(states=FINAL_STATES), clock.now() - timedelta(days=1))
    assert removed == 3


def test_a_row_that_cannot_be_read_does_not_keep_the_others_waiting(
    make: Make, clock: ManualClock
) -> None:
    app = make(nightly)
    run(app)
    row = Schedules.of(app).get("nightly")
    bad = replace(row, name="bad", version=0, app="elsewhere", edited={"zone": "Mars/Base"})
    app.store.records.put(bad.to_record())
    clock.advance(seconds=DAY)

    with pytest.raises(Exception, match="Mars/Base"):
        run(app)
    assert len(slots(app)) == 1
    assert 0 < app.runners[0].due_in() <= 5  # type: ignore[attr-defined]


def test_rows_of_newer_code_are_read(make: Make) -> None:
    app = make(nightly)
    run(app)
    row = Schedules.of(app).get("nightly").to_record()
    declared = {**row.data["declared"], "overlap": "skip"}
    newer: dict[str, Any] = {**row.data, "declared": declared, "colour": "blue"}
    app.store.records.put(replace(row, data=newer))

    assert Schedules.of(app).get("nightly").terms.cron == "30 2 * * *"
    assert isinstance(app.store.records.find("schedules", "nightly"), Record)
