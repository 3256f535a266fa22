"""What features add to events, in the transaction of whoever publishes them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tenure import Feature, NewJob, OptionError, RunningJob, Tenure
from tenure.core.errors import OutsideTransaction
from tenure.core.filter import JobFilter
from tenure.feature import PublishedEvent
from tenure.features.outbox import Outbox
from tenure.features.outbox.publish_hooks import END, type_of
from tests.features.outbox.conftest import Program


def jobs(program: Program, kind: str = "deliver") -> list[Any]:
    found = program.app.insight.stream(JobFilter(kinds=(kind,)))
    return sorted(program.app.get(job.id).payload["event"] for job in found)


@pytest.fixture
def hooked(program: Program) -> Program:
    """Each invoice event adds a job of another kind."""

    @program.app.job("deliver")
    def deliver(job: RunningJob, event: str) -> None: ...

    def hook(event: PublishedEvent) -> list[NewJob]:
        if event.data == "refused":
            raise ValueError("no endpoint takes this")
        return [program.app.new("deliver", {"event": event.id}, tenant=event.tenant)]

    program.outbox.on_publish("invoice.*", hook)
    return program


def test_jobs_of_a_hook_share_the_fate_of_the_event(hooked: Program) -> None:
    hooked.outbox.publish(None, "invoice.paid", event_id="alone", tenant="acme")
    hooked.outbox.publish(None, "order.placed", event_id="other")
    with hooked.app.transaction() as tx:
        hooked.outbox.publish(tx, "invoice.paid", event_id="kept")
    with pytest.raises(ZeroDivisionError), hooked.app.transaction() as tx:
        hooked.outbox.publish(tx, "invoice.paid", event_id="dropped")
        raise ZeroDivisionError

    assert jobs(hooked) == ["alone", "kept"]
    where = JobFilter(kinds=("deliver",), tenant="acme")
    assert len(list(hooked.app.insight.stream(where))) == 1


def test_an_event_with_a_hook_is_not_published_beside_an_open_transaction(hooked: Program) -> None:
    async def publish() -> None:
        await hooked.outbox.publish_async(None, "invoice.paid", event_id="beside")

    with hooked.app.transaction() as tx, pytest.raises(OutsideTransaction):
        tx.execute("select 1")
        hooked.outbox.publish(None, "invoice.paid", event_id="beside")
    with hooked.app.transaction(), pytest.raises(OutsideTransaction):
        asyncio.run(publish())

    assert jobs(hooked) == []


def test_an_event_that_was_published_before_adds_nothing(hooked: Program) -> None:
    for _ in range(2):
        hooked.outbox.publish(None, "invoice.paid", event_id="once")

    assert jobs(hooked) == ["once"]


def test_an_error_of_a_hook_refuses_the_publish(hooked: Program) -> None:
    events = [hooked.outbox.event("invoice.paid", data=data) for data in ("good", "refused")]

    with pytest.raises(ValueError, match="no endpoint"):
        hooked.outbox.publish_many(None, events)
    with hooked.app.transaction() as tx, pytest.raises(ValueError, match="no endpoint"):
        hooked.outbox.publish_many(tx, events)

    assert list(hooked.app.insight.stream(JobFilter())) == []


@pytest.mark.parametrize("type", ["a", 'quoted "type": "b"', "é🙂", "back\\slash\\", "{}"])
def test_the_type_is_found_without_decoding_the_data(app: Tenure, type: str) -> None:
    new = Outbox(app).event(type, event_id='an "id"', data={"type": "other"})

    assert new.payload.endswith(END)
    assert type_of(new) == type
    assert type_of(new._replace(payload=f"{new.payload} ")) == type


def test_a_coroutine_publishes_with_hooks(hooked: Program) -> None:
    async def publish() -> None:
        await hooked.outbox.publish_async(None, "invoice.paid", event_id="alone")
        connection = await connect(hooked)
        if connection is not None:
            await hooked.outbox.publish_async(connection, "invoice.paid", event_id="kept")
            await connection.commit()
            await hooked.outbox.publish_async(connection, "invoice.paid", event_id="dropped")
            await connection.rollback()
            await connection.close()

    asyncio.run(publish())

    kept = ["alone", "kept"] if "postgres" in hooked.app.url else ["alone"]
    assert jobs(hooked) == kept


async def connect(program: Program) -> Any:
    """An async connection, if the database has an async driver."""
    if "postgres" not in program.app.url:
        return None
    import psycopg

    return await psycopg.AsyncConnection.connect(program.app.url)


def test_settle_takes_hooks_along(hooked: Program) -> None:
    @hooked.app.job("sign")
    async def sign(job: RunningJob) -> None:
        async with job.settle() as tx:
            await hooked.outbox.publish_async(tx, "invoice.signed", event_id="signed")

    sign.enqueue()
    hooked.run()

    assert jobs(hooked) == ["signed"]


class Webhooks(Feature):
    """A feature that watches all events, and knows nothing of the outbox."""

    name = "webhooks"

    def __init__(self, app: Tenure) -> None:
        super().__init__(app)
        self.seen: list[str] = []
        self.publish_hooks = {"*": self.watch}

    def watch(self, event: PublishedEvent) -> None:
        self.seen.append(event.type)


def test_a_feature_watches_events_without_knowing_the_outbox(program: Program) -> None:
    webhooks = Webhooks(program.app)
    program.app.include(webhooks)
    program.outbox.publish(None, "a")
    program.outbox.publish(None, "b.c")

    assert webhooks.seen == ["a", "b.c"]


@pytest.mark.parametrize(
    ("hook", "problem"),
    [
        (lambda event: ["x"], "returned 'x'; return jobs"),
        (lambda event: (yield "x"), "needs a feature with tables"),
    ],
)
def test_a_hook_that_answers_something_else_is_refused(
    program: Program, hook: Any, problem: str
) -> None:
    program.outbox.on_publish("*", hook)

    with pytest.raises(OptionError, match=problem):
        program.outbox.publish(None, "a")
    with pytest.raises(OptionError, match="takes a function"):
        program.outbox.on_publish("*", 7)  # type: ignore[arg-type]
    assert list(program.app.insight.stream(JobFilter())) == []
