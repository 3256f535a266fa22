"""Questions that several crash tests ask."""

from __future__ import annotations

import sqlite3
from datetime import timedelta
from typing import Any

from tenure import Job, JobRef, Tenure
from tests.crash.marks import Mark, Marks
from tests.crash.programs import LEASE_SECONDS
from tests.support.servers import execute
from tests.support.until import until

LOCK_SECONDS = 0.3


def started(marks: Marks, job: JobRef, fence: int = 1) -> Mark:
    """The mark of the run under this fence, as soon as its handler is at work."""
    return heard(marks, "start", job=job.id, fence=fence)


def ended(app: Tenure, *jobs: JobRef) -> list[Job]:
    """The jobs, when all of them are final."""
    return [_ended(app, job) for job in jobs]


def _ended(app: Tenure, ref: JobRef) -> Job:
    until(lambda: app.get(ref).state.final)
    return app.get(ref)


def heard(marks: Marks, event: str, **facts: Any) -> Mark:
    """The first such mark, as soon as it is there."""
    return until(lambda: marks.find(event, **facts))[0]


def leases_pass(app: Tenure, count: float) -> None:
    """Wait for so many leases by the clock that judges them."""
    then = app.store.now() + timedelta(seconds=count * LEASE_SECONDS)
    until(lambda: app.store.now() > then)


def entries(app: Tenure, ref: JobRef) -> list[tuple[int, str]]:
    """The job's history as fences and words."""
    return [(line.fence, line.entry) for line in app.insight.history(app.get(ref))]


def effects(app: Tenure) -> list[tuple[int, int]]:
    """Every row that a handler wrote: job and fence."""
    with app.transaction() as tx:
        found = tx.execute("SELECT job_id, fence FROM crash_effects").fetchall()
    return [(int(row[0]), int(row[1])) for row in found]


def said(app: Tenure, ref: JobRef) -> list[str]:
    """The lines that the job's handlers wrote about it."""
    return [line.message for line in app.insight.logs(ref.id)]


def wait_for_line(app: Tenure, ref: JobRef, line: str) -> None:
    """Until the job's last line is this one."""
    until(lambda: said(app, ref)[-1:] == [line])


def is_locked(app: Tenure) -> bool:
    """Whether somebody keeps SQLite's only writer's place; a server has no such place."""
    if not app.url.startswith("sqlite:///"):
        return False
    connection = sqlite3.connect(app.url.removeprefix("sqlite:///"), timeout=LOCK_SECONDS)
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError:
        return True
    finally:
        connection.close()
    return False


def make_effects_table(url: str) -> None:
    """Where handlers leave a row in the transaction that settles their job."""
    execute(url, "DROP TABLE IF EXISTS crash_effects")
    execute(url, "CREATE TABLE crash_effects (job_id BIGINT NOT NULL, fence BIGINT NOT NULL)")
