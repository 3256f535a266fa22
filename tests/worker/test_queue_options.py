"""Options of queues: declared in code, set by operators, obeyed by workers."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from tenure import OptionError, RunningJob, Settings, Tenure, Worker
from tenure.operations.queue_options import QueueOptions
from tenure.worker.pipeline import Pipeline
from tests.support.until import until


@pytest.fixture
def app(database_url: str) -> Iterator[Tenure]:
    made = Tenure(database_url, settings=Settings(poll_seconds=0.05))
    yield made
    made.close()


def started(app: Tenure) -> list[Pipeline]:
    seen: list[Pipeline] = []
    app.signals.subscribe(lambda _, facts: seen.append(facts["pipeline"]), "worker.started")
    return seen


def test_code_declares_options_and_slots(app: Tenure) -> None:
    app.job("pdf", queue="pdf")(lambda job: None)
    app.job("mail")(lambda job: None)
    app.queue("pdf", slots=2, prefetch=0, fair=False, ageing=60)
    seen = started(app)

    worker = Worker(app)
    with worker:
        lines = {name: (line.size, line.prefetch) for name, line in worker.slots.lines.items()}

    assert lines == {"pdf": (2, 0), "default": (10, None)}
    assert seen[0].terms.unfair == {"pdf"}
    assert app.queues.ageing == {"pdf": 60}


def test_what_operators_set_goes_before_what_the_code_says(app: Tenure) -> None:
    app.queue("pdf", prefetch=5, ageing=60)
    app.queues.set("pdf", ageing=None, fair=False)
    assert app.queues.in_force()["pdf"] == QueueOptions(fair=False, prefetch=5)

    app.queues.forget("pdf")

    assert app.queues.in_force()["pdf"] == QueueOptions(ageing=60, prefetch=5)


@pytest.mark.parametrize(
    "wrong", [{"slots": 0}, {"ageing": 0}, {"prefetch": -1}, {"prefetch": True}, {"fair": 1}]
)
def test_what_cannot_be_is_refused(app: Tenure, wrong: dict[str, int]) -> None:
    with pytest.raises(OptionError):
        app.queue("pdf", **wrong)  # type: ignore[arg-type]


def test_a_worker_takes_the_oldest_first_where_tenants_do_not_share(app: Tenure) -> None:
    ran: list[str] = []

    @app.job("work")
    def work(job: RunningJob) -> None:
        ran.append(job.id)

    app.queue("default", slots=1, fair=False, prefetch=0)
    now = app.store.now()
    ages = [30, 20, 40, 10, 50]
    ids = {
        age: app.enqueue("work", tenant=f"t{age % 3}", run_at=now - timedelta(seconds=age)).id
        for age in ages
    }

    Worker(app).run_until_idle()

    assert ran == [ids[age] for age in sorted(ages, reverse=True)]


@pytest.mark.parametrize("how", ["background", "tick"])
def test_a_worker_lifts_what_has_waited_too_long(app: Tenure, how: str) -> None:
    app.job("work", queue="busy")(lambda job: None)
    app.queue("default", ageing=60)
    early = app.store.now() - timedelta(minutes=5)
    old, young = (
        app.enqueue("work", queue="default", run_at=early),
        app.enqueue("work", queue="default"),
    )

    if how == "tick":
        Worker(app).tick()
    else:
        with Worker(app):
            until(lambda: app.get(old).lifted)

    assert [(app.get(one).priority, app.get(one).lifted) for one in (old, young)] == [
        (1, True), (2, False),
    ]  # fmt: skip
