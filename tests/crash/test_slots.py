"""A worker is killed at every step of firing slots: the next one neither loses nor doubles any."""

from __future__ import annotations

import signal
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from tenure import Tenure
from tenure.core.filter import JobFilter
from tenure.features.schedules import Schedules
from tenure.features.schedules.fire import fire
from tests.crash.programs import Programs
from tests.crash.steps import STEP, STEPS, YEAR_HOURS

pytestmark = pytest.mark.crash
MISSED = 3


def test_a_kill_at_any_step_neither_loses_nor_doubles_a_slot(
    app: Tenure, programs: Programs
) -> None:
    assert programs.start("slot").wait(60) == 0  # makes the rows

    for step in STEPS:
        missed = set_back(app, step)
        assert programs.start("slot", **{STEP: step}).wait(60) == -signal.SIGKILL, step
        end_locks(app)
        fire(app, step, "heir", None)
        assert slots(app, step) == missed, step


def set_back(app: Tenure, name: str) -> list[datetime]:
    """The schedule of this name, as if nobody had looked for three slots."""
    row = Schedules.of(app).get(name)
    missed = [row.next_at - back * timedelta(hours=YEAR_HOURS) for back in range(MISSED, 0, -1)]
    app.store.records.put(replace(row, next_at=missed[0]).to_record())
    return missed


def end_locks(app: Tenure) -> None:
    """The lease of whoever was killed is over."""
    for lock in app.store.locks.list():
        app.store.locks.release(lock)


def slots(app: Tenure, name: str) -> list[datetime]:
    jobs = reversed(list(app.insight.stream(JobFilter(kinds=("slot",)))))
    return [
        datetime.fromisoformat(app.get(job.id).arguments["slot"])
        for job in jobs
        if job.enqueued_by == f"schedule:{name}"
    ]
