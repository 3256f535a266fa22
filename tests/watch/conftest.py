"""An app on a SQLite file whose jobs end in every way, watched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tenure import Delays, Fail, NotFound, RunningJob, Settings, Snooze, Tenure
from tenure.core.lease import ClaimedJob, Lease
from tenure.watch.settings import WatchSettings


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Tenure]:
    made = Tenure(f"sqlite:///{tmp_path / 'jobs.db'}", settings=Settings(lease_seconds=30))

    @made.job("well")
    async def well(job: RunningJob) -> str:
        return "done"

    @made.job("flaky", retry=Delays(0, 0))
    def flaky(job: RunningJob) -> None:
        if job.attempt < 3:
            raise ValueError("not yet")

    @made.job("doomed", retry=Delays(0))
    async def doomed(job: RunningJob) -> None:
        raise KeyError("never")

    @made.job("refused", queue="mail")
    async def refused(job: RunningJob) -> None:
        raise Fail("no", code="no_such_template")

    @made.job("absent")
    async def absent(job: RunningJob) -> None:
        raise NotFound("nowhere")

    @made.job("later")
    async def later(job: RunningJob) -> None:
        raise Snooze(3_600)

    @made.job("self_settled")
    def self_settled(job: RunningJob) -> None:
        with job.settle(result=1):
            pass

    yield made
    made.close()


@pytest.fixture
def settings() -> WatchSettings:
    return WatchSettings()


def claimed(kind: str = "mail", **facts: object) -> ClaimedJob:
    """A run as a worker holds it."""
    known = {"queue": "default", "payload": '{"card":"4111"}', "priority": 2, "tenant": "",
             "owner": None, "attempt": 2, "max_attempts": 5, "snoozes": 0, "refunds": 0,
             "correlation_id": None, "trace": None, "cancel_requested": False,
             "started_micros": 0}  # fmt: skip
    return ClaimedJob(lease=Lease("7", 1, "worker"), kind=kind, **{**known, **facts})  # type: ignore[arg-type]
