"""Apps on one database, on a clock that the test turns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tenure import RunningJob, Settings, Tenure
from tenure.core.filter import JobFilter
from tenure.core.timing.budget import Budget
from tenure.features.schedules import Schedules
from tenure.testing.clock import ManualClock
from tests.support.databases import Databases

Make = Callable[..., Tenure]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def make(databases: Databases, tmp_path: Path, clock: ManualClock) -> Iterator[Make]:
    """Apps on one database: replicas, or a later deploy."""
    url, made = databases.empty(tmp_path), list[Tenure]()

    def app(declare: Callable[[Tenure], object] = nothing, **settings: Any) -> Tenure:
        made.append(Tenure(url, settings=Settings(**settings), clock=clock))
        declare(made[-1])
        return made[-1]

    yield app
    for one in made:
        one.close()


def nothing(app: Tenure) -> None:
    """An app that declares no schedule."""


def nightly(app: Tenure, cron: str = "30 2 * * *", **options: Any) -> None:
    """A schedule of that name in Berlin; its jobs know their slot."""
    options = {"zone": "Europe/Berlin", "slot_as": "slot", **options}

    @Schedules.of(app).cron(cron, **options)
    @app.job("nightly")
    async def handler(job: RunningJob, slot: datetime, n: int = 0) -> None:
        job.log(slot.isoformat())


def run(app: Tenure, **budget: Any) -> int:
    """One turn of the runner."""
    return app.runners[0].run(Budget(**budget))


def slots(app: Tenure, kind: str = "nightly") -> list[str]:
    """The slots that have a job, oldest job first."""
    jobs = reversed(list(app.insight.stream(JobFilter(kinds=(kind,)))))
    return [app.get(job.id).arguments["slot"] for job in jobs]
