"""How late slots of a schedule are when its worker has more jobs than it can do."""

from __future__ import annotations

import time
from datetime import datetime

from bench.app import fill, make_app
from bench.databases import fresh, postgres_server
from bench.drains import NOOP_SLOTS
from bench.figures.scale import Scale
from bench.result import Result, at_most
from tenure import JobFilter, RunningJob, State, Tenure, Worker
from tenure.features.schedules import Schedules

JOBS = 200_000
IDLE_SECONDS = 20.0
POLL_SECONDS = 0.2
SLOTS = JobFilter(kinds=("slot",))


async def slot(job: RunningJob, at: datetime) -> None:
    """A slot of every second."""


def punctual(scale: Scale) -> Result:
    """Seconds from a slot to its job's row, worst of all: no-op jobs as fast as they go; idle."""
    with postgres_server() as server, fresh(server) as url:
        app = make_app(url)
        Schedules.of(app).every(seconds=1, slot_as="at", catch_up="all")(
            app.job("slot", queue="slots")(slot)
        )
        with Worker(app, concurrency=NOOP_SLOTS):
            time.sleep(scale.seconds(IDLE_SECONDS))
            idle = lateness(app)
            fill(app, "noop", scale.rows(JOBS))
            while app.insight.counts(JobFilter(kinds=("noop",))).get(State.QUEUED, 0):
                time.sleep(POLL_SECONDS)
        busy = lateness(app)[len(idle) :]
        dropped = Schedules.of(app).get("slot").dropped
        app.close()
    return Result(
        bench="punctual",
        value=max(busy),
        unit="s",
        reference=max(idle),
        ratio=max(busy) / max(idle),
        checks=[at_most("s late at most", max(busy), 1.0), at_most("slots left out", dropped, 0)],
        notes=[f"{len(busy)} slots while jobs ran, {len(idle)} while none did"],
    )


def lateness(app: Tenure) -> list[float]:
    """Of every slot so far, oldest first: from its time until its job was there."""
    jobs = [app.get(job.id) for job in app.insight.stream(SLOTS)]
    found = [(job.created_at, datetime.fromisoformat(job.arguments["at"])) for job in jobs]
    return [(created - at).total_seconds() for created, at in reversed(found)]
