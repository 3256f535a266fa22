"""Schedules of the programs: one with slots to lose, and one that bills 1,000 tenants."""

from __future__ import annotations

import os
import signal
from datetime import datetime
from typing import Any

from tenure import NewJob, Page, RunningJob
from tenure.features.schedules import Schedules
from tests.crash.handlers import ADD_EFFECT, AT_ONCE, app
from tests.crash.marks import run_number_of
from tests.crash.steps import STEP, STEPS, YEAR_HOURS

TENANTS = 1_000
PAGE = 50
DEADLY = 525


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def may_die(store: Any) -> None:
    """After the step that the environment names; `committed` is before the lock is given back."""
    step = os.environ.get(STEP, "")
    if step not in STEPS:
        return
    part, name = STEPS[step]
    method = getattr(getattr(store, part), name)

    def last(*args: Any, **named: Any) -> Any:
        if step != "committed":
            method(*args, **named)
        die()

    setattr(getattr(store, part), name, last)


@app.job("slot")
def slot(job: RunningJob, slot: datetime) -> None: ...


for step in STEPS:
    Schedules.of(app).every(hours=YEAR_HOURS, slot_as="slot", catch_up="all", name=step)(slot)


@app.job("bill", retry=AT_ONCE)
def bill(job: RunningJob, tenant: int) -> None:
    with job.settle() as tx:
        tx.execute(ADD_EFFECT, (tenant, job.fence))


def tenants(after: str | None) -> Page[int]:
    first = 0 if after is None else int(after) + 1
    rows = range(first, min(first + PAGE, TENANTS))
    return Page(rows, str(rows[-1]) if rows[-1] + 1 < TENANTS else None)


@Schedules.of(app).for_each("classes.billing", pages=tenants)
def classes_billing(tenant: int, slot: datetime) -> NewJob:
    if tenant == DEADLY and run_number_of("billing") == 1:
        die()
    return bill.new(tenant)
