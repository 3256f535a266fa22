"""What workers publish about their handlers, and who goes by it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tenure import Delays, Limit, RunningJob, Settings, State, Tenure, Worker
from tenure.core.rules.limits import Limits
from tenure.jobs.published_handlers import HANDLERS
from tenure.testing.clock import ManualClock
from tenure.worker.pipeline import Pipeline

HOUR = 3600
MINUTE = 60
Make = Callable[..., Tenure]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def make(database_url: str, clock: ManualClock) -> Iterator[Make]:
    """Programs on one database."""
    made: list[Tenure] = []

    def app(**settings: Any) -> Tenure:
        made.append(Tenure(database_url, settings=Settings(**settings), clock=clock))
        return made[-1]

    yield app
    for one in made:
        one.close()


def with_pdf(app: Tenure, **options: Any) -> Tenure:
    """A handler that differs from the defaults in all that can be said."""

    @app.job("pdf", **{"queue": "slow", "priority": 7, "retry": Delays(0), **options})
    def pdf(job: RunningJob) -> None:
        raise ValueError("no luck")

    return app


def sign_in(app: Tenure) -> None:
    """A worker comes and goes."""
    with Worker(app):
        pass


def place_of(app: Tenure, job_id: str) -> tuple[str, int, int]:
    job = app.get(job_id)
    return job.queue, job.priority, job.max_attempts


def test_a_job_by_name_goes_where_live_workers_say(make: Make) -> None:
    sign_in(with_pdf(make()))
    producer = make()

    ref = producer.enqueue("pdf")

    assert place_of(producer, ref.id) == ("slow", 7, 2)


def test_what_the_caller_says_goes_first(make: Make) -> None:
    sign_in(with_pdf(make()))
    producer = make()

    ref = producer.enqueue("pdf", queue="fast", max_attempts=9)

    assert place_of(producer, ref.id) == ("fast", 7, 9)


def test_the_same_from_a_coroutine(make: Make) -> None:
    sign_in(with_pdf(make()))
    producer = make()

    async def enqueue_two() -> list[str]:
        return [(await producer.enqueue_async("pdf")).id for _ in range(2)]

    ids = asyncio.run(enqueue_two())
    assert [place_of(producer, one) for one in ids] == [("slow", 7, 2)] * 2


def test_a_producer_asks_once_in_a_while_and_not_for_each_job(make: Make) -> None:
    sign_in(with_pdf(make()))
    producer, asked = make(), list[str]()
    producer.enqueue("other")
    producer.store.measure(lambda name, _: asked.append(name))

    for _ in range(5):
        producer.enqueue("pdf")

    assert asked.count("find_record") == 1


def test_a_job_that_nobody_knew_is_moved_to_its_handlers_queue(make: Make) -> None:
    producer = make()
    ref = producer.enqueue("pdf")
    assert place_of(producer, ref.id) == ("default", 2, 5)

    with Worker(with_pdf(make()), queues={"other": 1}):
        assert place_of(producer, ref.id) == ("slow", 7, 2)


def test_the_handler_decides_how_often_a_job_that_nobody_knew_is_tried(
    database_url: str,
) -> None:
    """Also where it is claimed before it is placed: its producer does not know the handler yet."""
    app, producer = Tenure(database_url), Tenure(database_url)
    with_pdf(app, queue="default", retry=Delays())
    with Worker(app):
        [added] = producer.store.jobs.add([producer.new("pdf")])
        job = producer.wait(added.id)

    assert (job.state, job.reason, job.attempt) == (State.DEAD, "exhausted", 1)
    app.close()
    producer.close()


def test_where_the_database_does_not_answer_a_job_is_left_to_its_handler(tmp_path: Path) -> None:
    app = Tenure(f"sqlite:///{tmp_path / 'no folder' / 'jobs.db'}")
    new = app.new("pdf")

    assert app.published.place([new]) == [new]
    assert new.unplaced


def limits_of(app: Tenure) -> Limits:
    """What a worker of this app obeys from its start."""
    seen: list[Pipeline] = []
    forget = app.signals.subscribe(
        lambda _, facts: seen.append(facts["pipeline"]), "worker.started"
    )
    sign_in(app)
    forget()
    return seen[0].terms.limits


def test_an_old_replica_obeys_the_limit_that_only_the_new_release_declares(
    make: Make, clock: ManualClock
) -> None:
    limit, each = Limit(running=2), Limit(running=1)
    sign_in(with_pdf(make(app_name="shop", app_version="2"), limit=limit, key_limit=each))
    old = with_pdf(make(app_name="shop", app_version="1"))

    assert limits_of(old) == Limits(kinds={"pdf": limit}, keys={"pdf": each})

    clock.advance(seconds=HOUR - 1)
    assert limits_of(old).kinds == {"pdf": limit}
    clock.advance(seconds=1)
    assert not limits_of(old)


def test_a_limit_stays_while_one_replica_declares_it(make: Make, clock: ManualClock) -> None:
    limit = Limit(rate=5)
    new = with_pdf(make(app_version="2"), limit=limit)
    old = with_pdf(make(app_version="1"))
    for _ in range(12):
        sign_in(new)
        sign_in(old)
        clock.advance(seconds=14 * MINUTE)

    assert limits_of(old).kinds == {"pdf": limit}


def test_another_program_does_not_go_by_it_and_does_not_touch_it(make: Make) -> None:
    sign_in(with_pdf(make(app_name="shop"), limit=Limit(running=2)))
    other = with_pdf(make(app_name="reports"), queue="else")

    assert not limits_of(other)
    assert other.published.all()["pdf"].app == "shop"
    assert other.published.all()["pdf"].queue == "slow"


def test_an_operators_limit_goes_before_what_others_declare(make: Make) -> None:
    sign_in(with_pdf(make(), limit=Limit(running=2)))
    old = with_pdf(make())
    old.limits.set("pdf", Limit(running=9))

    assert limits_of(old).kinds == {"pdf": Limit(running=9)}


def test_a_declaration_is_written_every_few_minutes_only(make: Make, clock: ManualClock) -> None:
    app = with_pdf(make(), limit=Limit(running=2))

    def version() -> int:
        sign_in(app)
        record = app.store.records.find(HANDLERS, "pdf")
        assert record is not None
        return record.version

    first = version()
    clock.advance(seconds=4 * MINUTE)
    assert version() == first
    clock.advance(seconds=MINUTE)
    assert version() == first + 1


def test_kinds_that_no_worker_has_known_for_a_month_are_forgotten(
    make: Make, clock: ManualClock
) -> None:
    sign_in(with_pdf(make()))
    app = make()
    app.job("other")(lambda job: None)
    clock.advance(seconds=timedelta(days=31).total_seconds())
    sign_in(app)

    assert list(app.published.all()) == ["other"]
