"""Charts say what the workers of the fleet have settled, and what others have ended."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from typing import Any

import pytest

from tenure import Fail, JobFilter, Retry, RunningJob, Tenure
from tenure.core.errors import StoreUnavailable
from tenure.core.job import State
from tenure.core.rules.rollups import KEPT, Line
from tenure.core.timing.budget import Budget
from tenure.stores.contract import Change, Move
from tenure.stores.contract.rollups import FailureCount, RollupFilter
from tenure.stores.sql.parts.rollups import SqlRollups
from tenure.testing.clock import ManualClock
from tenure.worker import Worker
from tenure.worker.upkeep.pruning import Pruner
from tenure.worker.upkeep.rollups import Rollups

HOUR = timedelta(hours=1)
FAILURE = FailureCount(
    kind="bad", tenant="", group=1, failures=1, sample_job="1", type="E", message="m",
    sample_message="m",
)  # fmt: skip


@pytest.fixture
def open_shop(database_url: str) -> Iterator[Callable[..., Tenure]]:
    """`open_shop(clock=...)`: an app on the same database as the others."""
    with ExitStack() as stack:

        def make(**options: Any) -> Tenure:
            app = shop(database_url, **options)
            stack.callback(app.close)
            return app

        yield make


def shop(url: str, **options: Any) -> Tenure:
    app = Tenure(url, **options)

    @app.job("ok", queue="fast")
    async def ok(job: RunningJob) -> None: ...

    @app.job("sync")
    def sync(job: RunningJob) -> None:
        with job.settle():
            pass

    @app.job("bad")
    async def bad(job: RunningJob) -> None:
        if job.attempt == 1:
            raise Retry("not yet", delay=0)
        raise Fail("no 17")

    return app


def settled(app: Tenure, **chart: Any) -> dict[str, int]:
    totals = app.charts.chart(HOUR, **chart).totals
    return {str(state): n for state, n in totals.settled.items() if n}


def test_charts_equal_what_two_workers_settled(open_shop: Callable[..., Tenure]) -> None:
    apps = [open_shop() for _ in range(2)]
    for _ in range(60):
        apps[0].enqueue("ok", {})
    for _ in range(5):
        apps[0].enqueue("bad", {}, tenant="acme")
        apps[0].enqueue("sync", {})
    workers = [threading.Thread(target=Worker(app).run_until_idle) for app in apps]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
    app = apps[0]

    truth = {str(state): n for state, n in app.insight.counts().items()}
    chart = app.charts.chart(HOUR, by="kind")

    assert settled(app) == truth == {"succeeded": 65, "failed": 5}
    assert chart.totals.retries == 5
    assert chart.totals.run.count == 75
    assert chart.totals.wait.count == 75
    assert {name: sum(one.settled.values()) for name, one in chart.groups.items()} == {
        "ok": 60, "sync": 5, "bad": 5,
    }  # fmt: skip
    assert settled(app, where=RollupFilter(queues=("fast",))) == {"succeeded": 60}
    assert settled(app, where=RollupFilter(kinds=("bad",))) == {"failed": 5}
    assert len(chart.points) == 61
    for length, step in ((timedelta(hours=24), 600), (timedelta(days=7), 3600)):
        other = app.charts.chart(length)
        assert (other.step_seconds, other.totals.settled) == (step, chart.totals.settled)
    groups = {one.group.message: one.group.failures for one in app.charts.errors(HOUR).rows}
    assert groups == {"not yet": 5, "no <n>": 5}
    assert [one.group.failures for one in app.charts.errors(HOUR, tenant="acme").rows] == [5, 5]
    assert app.charts.errors(HOUR, tenant="beta").rows == []


def test_what_no_worker_ended_counts_too(open_shop: Callable[..., Tenure]) -> None:
    clock = ManualClock()
    app = open_shop(clock=clock)
    first = app.enqueue("ok", {}, delay=600)
    app.enqueue("ok", {}, after=[first.id])
    app.enqueue("ok", {}, delay=600, tenant="acme")
    app.enqueue("ok", {}, delay=600, expires=60)
    app.cancel(first.id)
    change = Change(move=Move.CANCEL, actor="ada")
    app.operator.move_all(JobFilter(tenant="acme"), change)
    clock.advance(seconds=120)
    Worker(app).run_until_idle()

    assert app.insight.counts() == {State.CANCELED: 4}
    assert settled(app) == {"canceled": 4}
    assert settled(app, where=RollupFilter(kinds=("ok",))) == {"canceled": 4}


def test_what_cannot_be_written_is_added_later(
    open_shop: Callable[..., Tenure], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_shop()
    rollups = Rollups(app.store)
    written = SqlRollups.add
    for n in (1, 2):
        rollups._put_back([Line("fast", "ok", 2, n)], [FAILURE])

    def refuse(self: SqlRollups, lines: object) -> None:
        raise StoreUnavailable("gone for a moment")

    monkeypatch.setattr(SqlRollups, "add", refuse)
    with pytest.raises(StoreUnavailable):
        rollups.flush()
    monkeypatch.setattr(SqlRollups, "add", written)
    rollups.flush()
    rollups.flush()

    assert settled(app, where=RollupFilter(kinds=("ok",))) == {"succeeded": 3}
    assert [one.group.failures for one in app.charts.errors(HOUR).rows] == [2]


def test_old_rows_are_pruned(open_shop: Callable[..., Tenure]) -> None:
    clock = ManualClock()
    app = open_shop(clock=clock)
    app.store.rollups.add([Line("", "", 2, 1)])
    app.store.rollups.add_failures([FAILURE])
    begun = app.store.now() - timedelta(seconds=3_600)

    def left() -> list[int]:
        return [span for span in KEPT if app.store.rollups.periods(span, begun, RollupFilter())]

    assert left() == list(KEPT)
    for hours, expected in ((4, [600, 3600]), (72, [3600]), (24 * 40, [])):
        clock.advance(seconds=hours * 3600)
        Pruner(app, "me", lambda: False).once(Budget(seconds=10))
        assert left() == expected
    clock.advance(seconds=100 * 86_400)
    Pruner(app, "me", lambda: False).once(Budget(seconds=10))
    assert app.charts.errors(timedelta(days=1_000)).rows == []
