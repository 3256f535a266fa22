"""Each schedule as a runner of its own, by name: WORKER_TICK_RUNNERS as a deployment has it."""

from __future__ import annotations

from typing import Any

import pytest

from tenure import OptionError, RunningJob, State, Tenure, Worker
from tenure.core.filter import JobFilter
from tenure.features.outbox import Event, Outbox
from tenure.features.schedules import Schedules
from tenure.testing.clock import ManualClock
from tenure.worker.runner_names import meaning, words_of
from tenure.worker.settings import WorkerSettings
from tests.features.schedules.conftest import Make

VERBATIM = "outbox,invoiceReminders,classesBilling"
HOUR = 3_600


def declare(app: Tenure) -> None:
    schedules, outbox = Schedules(app), Outbox(app)

    @schedules.every(hours=1)
    @app.job("invoice.reminders")
    async def reminders(job: RunningJob) -> None: ...

    @schedules.every(hours=1, name="classesBilling")
    @app.job("billing")
    async def billing(job: RunningJob) -> None: ...

    @schedules.every(hours=1)
    @app.job("reports")
    async def reports(job: RunningJob) -> None: ...

    @outbox.on("paid")
    def paid(job: RunningJob, event: Event) -> None: ...


def worker(app: Tenure, runners: str) -> Worker:
    settings: dict[str, Any] = {"tick_runners": runners}
    return Worker(app, settings=WorkerSettings(**settings))


def states(app: Tenure) -> dict[str, State]:
    return {job.kind: job.state for job in app.insight.stream(JobFilter())}


def test_the_list_of_a_deployment_works_verbatim(make: Make, clock: ManualClock) -> None:
    app = make(declare)
    outbox = Outbox.of(app)
    Worker(app).tick()
    clock.advance(seconds=HOUR)
    outbox.publish(None, "paid")
    app.enqueue("reports")

    report = worker(app, VERBATIM).tick()

    names = ["outbox", "invoice.reminders", "classesBilling"]
    assert [one.name for one in report.runners] == names
    assert not report.failed
    assert states(app) == {
        "outbox.dispatch": State.SUCCEEDED,
        "outbox:paid:default": State.SUCCEEDED,
        "invoice.reminders": State.SUCCEEDED,
        "billing": State.SUCCEEDED,
        "reports": State.QUEUED,  # neither its schedule nor `jobs` is named
    }


def test_a_schedule_that_is_named_alone_leaves_the_others_alone(
    make: Make, clock: ManualClock
) -> None:
    app = make(declare)
    Worker(app).tick()
    clock.advance(seconds=HOUR)

    worker(app, "classesBilling").tick()

    assert states(app) == {"billing": State.SUCCEEDED}
    worker(app, "schedules").tick()
    assert states(app).keys() == {"billing", "invoice.reminders", "reports"}
    assert Schedules.of(app).get("classesBilling").fired == 1


def test_an_unknown_name_is_refused_with_the_known_ones(make: Make) -> None:
    app = make(declare)

    with pytest.raises(OptionError, match=r"names 'invoiceReminder'.*jobs.*outbox.*classesBilling"):
        worker(app, "outbox,invoiceReminder").tick()


@pytest.mark.parametrize(
    "name", ["invoiceReminders", "invoice.reminders", "invoice_reminders", "Invoice-Reminders"]
)
def test_a_name_may_be_written_as_is_usual_where_it_is_read(name: str) -> None:
    assert meaning(name, ["jobs", "invoice-reminders"]) == "invoice-reminders"
    assert words_of("PDFRender2x") == ("pdf", "render2x")


def test_names_of_the_same_words_must_be_written_as_they_are() -> None:
    known = ["a.b", "a-b"]

    assert meaning("a-b", known) == "a-b"
    with pytest.raises(OptionError, match=r"may be any of a\.b, a-b"):
        meaning("aB", known)
