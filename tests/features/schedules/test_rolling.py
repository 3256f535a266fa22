"""Releases side by side: a replica that starts takes nothing away that others still declare."""

from __future__ import annotations

from functools import partial

import pytest

from tenure import RunningJob, Tenure, Worker
from tenure.features.schedules import Schedules
from tenure.testing.clock import ManualClock
from tests.features.schedules.conftest import Make, nightly, run

MINUTE = 60
HOUR = 3600


def report(app: Tenure) -> None:
    """What both releases declare."""

    @Schedules.of(app).every(seconds=1)
    @app.job("report")
    def handler(job: RunningJob) -> None: ...


def with_billing(app: Tenure) -> None:
    """What the new release declares besides."""
    report(app)

    @Schedules.of(app).every(seconds=1)
    @app.job("billing")
    def handler(job: RunningJob) -> None: ...


@pytest.mark.parametrize("name", ["shop", ""])
def test_an_old_replica_that_restarts_leaves_the_schedules_of_the_new_release(
    make: Make, clock: ManualClock, name: str
) -> None:
    new = make(with_billing, app_name=name)
    with Worker(new), Worker(make(report, app_name=name)):
        pass

    clock.advance(seconds=1)
    run(make(report, app_name=name))

    row = Schedules.of(new).get("billing")
    assert (row.enabled, row.fired) == (True, 1)


def test_the_two_releases_live_side_by_side_for_days(make: Make, clock: ManualClock) -> None:
    new, old = make(with_billing, app_name="shop"), make(report, app_name="shop")
    for _ in range(100):
        run(old)
        run(new)
        clock.advance(seconds=14 * MINUTE)
        run(old)

    assert Schedules.of(old).get("billing").enabled


def test_unnamed_programs_that_were_down_together_do_not_disable_each_other(
    make: Make, clock: ManualClock
) -> None:
    run(make(nightly))
    clock.advance(seconds=48 * HOUR)

    other = make(report)
    run(other)
    clock.advance(seconds=MINUTE)
    run(other)

    assert Schedules.of(other).get("nightly").enabled


def test_an_old_replica_that_restarts_does_not_bring_the_old_times_back(
    make: Make, clock: ManualClock
) -> None:
    run(make(nightly, app_version="1"))
    later = partial(nightly, cron="0 5 * * *")
    new = make(later, app_version="2")
    run(new)

    old = make(nightly, app_version="1")
    run(old)
    clock.advance(seconds=10 * MINUTE)
    run(new)
    run(old)

    row = Schedules.of(new).get("nightly")
    assert (row.terms.cron, row.release) == ("0 5 * * *", "2")


def test_after_a_rollback_the_old_times_hold_again_in_a_quarter_of_an_hour(
    make: Make, clock: ManualClock
) -> None:
    run(make(nightly, app_version="1"))
    run(make(partial(nightly, cron="0 5 * * *"), app_version="2"))
    old = make(nightly, app_version="1")
    run(old)

    clock.advance(seconds=15 * MINUTE)
    run(old)

    row = Schedules.of(old).get("nightly")
    assert (row.terms.cron, row.release) == ("30 2 * * *", "1")


def test_a_declared_schedule_is_written_every_few_minutes_only(
    make: Make, clock: ManualClock
) -> None:
    app = make(nightly)
    run(app)
    version = Schedules.of(app).get("nightly").version
    for _ in range(4):
        clock.advance(seconds=MINUTE)
        run(app)
    assert Schedules.of(app).get("nightly").version == version

    clock.advance(seconds=MINUTE)
    run(app)

    assert Schedules.of(app).get("nightly").version == version + 1
