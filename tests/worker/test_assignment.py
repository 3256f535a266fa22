"""A runner of jobs: named alone it limits a worker to its kinds; else `jobs` does its part."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from tenure import OptionError, RunningJob, State, Tenure, Worker
from tenure.core.filter import JobFilter
from tenure.core.timing.budget import Budget
from tenure.jobs.handler_options import QueueSlots
from tenure.worker.running.slots import Slots
from tenure.worker.settings import WorkerSettings
from tests.support.until import until


class Mails:
    """A feature whose runner is the jobs runner limited to mails."""

    name = "mails"
    lease_seconds = 9.0
    renew_seconds = 2.0

    def __init__(self, kinds: Iterable[str] = ("mail",)) -> None:
        self.kinds = tuple(kinds)
        self.handlers: list[Any] = []
        self.slots = {"mails": QueueSlots(2, batch=1), "default": QueueSlots(3)}
        self.runners = (self,)
        self.runs = 0

    def run(self, budget: Budget) -> int:
        self.runs += 1
        return 0


@pytest.fixture
def mails(app: Tenure) -> Mails:
    """Three mails and three other jobs wait."""
    leases: list[float] = []

    @app.job("mail", queue="mails")
    def mail(job: RunningJob) -> float:
        row = app.get(job.id)
        assert row.lease_until is not None
        assert row.started_at is not None
        leases.append((row.lease_until - row.started_at).total_seconds())
        return leases[-1]

    @app.job("other")
    def other(job: RunningJob) -> None:
        """Nothing."""

    app.enqueue_many([app.new(kind) for kind in ["mail", "other"] * 3])
    made = Mails()
    app.include(made)
    return made


def done(app: Tenure, kind: str) -> int:
    counts = app.insight.counts(JobFilter(kinds=(kind,)))
    return counts.get(State.SUCCEEDED, 0)


def worker(app: Tenure, *runners: str) -> Worker:
    return Worker(app, settings=WorkerSettings(tick_runners=runners))


def test_a_named_runner_of_jobs_takes_its_kinds_alone(app: Tenure, mails: Mails) -> None:
    report = worker(app, "mails").tick()

    assert [(one.name, one.processed) for one in report.runners] == [("mails", 3)]
    assert (done(app, "mail"), done(app, "other"), mails.runs) == (3, 0, 1)


def test_worked_on_its_own_it_has_leases_of_its_own(app: Tenure, mails: Mails) -> None:
    worker(app, "mails").tick()
    [*jobs] = app.insight.stream(JobFilter(kinds=("mail",)))

    assert {app.get(job.id).result for job in jobs} == {9.0}


def test_by_default_the_jobs_runner_does_all_of_it_once(app: Tenure, mails: Mails) -> None:
    report = worker(app).tick()

    processed = {one.name: one.processed for one in report.runners}
    assert (processed["jobs"], processed["mails"], mails.runs) == (6, 0, 1)
    assert (done(app, "mail"), done(app, "other")) == (3, 3)


def test_named_before_jobs_it_goes_first(app: Tenure, mails: Mails) -> None:
    report = worker(app, "mails", "jobs").tick()

    assert [(one.name, one.processed) for one in report.runners] == [("mails", 3), ("jobs", 3)]


def test_in_the_background_it_limits_the_worker_too(app: Tenure, mails: Mails) -> None:
    with worker(app, "mails"):
        until(lambda: done(app, "mail") == 3)
        [one] = app.insight.workers()
        assert (one.kinds, dict(one.queues)) == (("mail",), {"mails": 2})
        until(lambda: mails.runs)

    assert done(app, "other") == 0


def test_slots_come_from_the_operator_then_the_feature(app: Tenure, mails: Mails) -> None:
    app.settings = app.settings.model_copy(update={"queue_slots": {"default": 7}})
    with Worker(app, concurrency=5):
        [one] = app.insight.workers()

    assert dict(one.queues) == {"mails": 2, "default": 7}


def test_no_more_than_a_batch_is_claimed_at_once() -> None:
    assert Slots({"a": 10, "b": 10}, {"a": 3}).room() == {"a": 3, "b": 10}


def test_a_runner_of_kinds_that_nobody_handles_is_refused(app: Tenure) -> None:
    app.include(Mails(kinds=()))

    with pytest.raises(OptionError, match="no handlers"):
        worker(app, "mails")
