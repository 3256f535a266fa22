"""Publishing: an event exists if and only if the transaction around it commits."""

from __future__ import annotations

import asyncio
from contextlib import closing
from typing import Any

import psycopg
import pytest
from sqlalchemy.orm import Session

from tenure import KeyConflict, OptionError, PayloadError, RunningJob
from tenure.core.errors import EventConflict, OutsideTransaction, SyncCallOnLoop
from tenure.features.outbox import Event, Status, ViewFilter
from tests.features.outbox.conftest import Program
from tests.stores.test_foreign_transaction import connect
from tests.support.databases import engine_for

SQLITE = pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
POSTGRES = pytest.mark.parametrize("dialect", ["postgres"], indirect=True)
CREATED = "invoice.created"


def published(program: Program) -> list[Any]:
    return [row.payload for row in program.outbox.events()]


def test_an_event_is_there_when_the_transaction_commits_and_not_when_it_does_not(
    program: Program,
) -> None:
    with program.app.transaction() as tx:
        program.outbox.publish(tx, CREATED, aggregate=("Invoice", "42"), data={"n": 1})
        assert published(program) == [] or program.app.url.startswith("sqlite")
    with pytest.raises(ZeroDivisionError), program.app.transaction() as tx:
        program.outbox.publish(tx, CREATED, aggregate=("Invoice", "42"), data={"n": 2})
        raise ZeroDivisionError

    assert published(program) == [{"n": 1}]


def test_it_is_part_of_a_plain_connection_and_of_a_session(program: Program) -> None:
    with closing(connect(program.app.url)) as connection:
        program.outbox.publish(connection, CREATED, aggregate=("Invoice", 1), data="connection")
        connection.commit()
        program.outbox.publish(connection, CREATED, aggregate=("Invoice", 1), data="rolled back")
        connection.rollback()
    engine = engine_for(program.app.url)
    with Session(engine) as session:
        program.outbox.publish(session, CREATED, data="session")
        session.commit()
    engine.dispose()

    assert published(program) == ["session", "connection"]


@POSTGRES
def test_it_is_part_of_an_async_connection(program: Program) -> None:
    async def publish(data: str, commit: bool) -> None:
        connection = await psycopg.AsyncConnection.connect(program.app.url)
        await program.outbox.publish_async(connection, CREATED, data=data)
        await (connection.commit() if commit else connection.rollback())
        await connection.close()

    asyncio.run(publish("kept", True))
    asyncio.run(publish("dropped", False))

    assert published(program) == ["kept"]


def test_it_is_part_of_the_end_of_a_job(program: Program) -> None:
    @program.app.job("sign", retry=program.outbox.settings.retry)
    def sign(job: RunningJob, well: bool) -> None:
        with job.settle() as tx:
            program.outbox.publish(tx, "signed", data=f"plain {well}")
            if not well:
                raise RuntimeError

    @program.app.job("sign.async", retry=program.outbox.settings.retry)
    async def sign_async(job: RunningJob, well: bool) -> None:
        async with job.settle() as tx:
            await program.outbox.publish_async(tx, "signed", data=f"async {well}")
            if not well:
                raise RuntimeError

    for well in (True, False):
        sign.enqueue(well)
        sign_async.enqueue(well)
    program.subscribe("signed")
    program.run()

    assert sorted(data for _, data in program.got) == ["async True", "plain True"]


def test_a_tenant_and_a_correlation_reach_the_subscriber(program: Program) -> None:
    seen: list[tuple[str, str | None, str | None]] = []

    @program.outbox.on(CREATED)
    def note(job: RunningJob, event: Event) -> None:
        seen.append((job.tenant, job.claimed.correlation_id, job.claimed.owner))

    program.outbox.publish(None, CREATED, tenant="acme", owner="ada", correlation_id="c-1")
    program.run()

    assert seen == [("acme", "c-1", "ada")]


def test_an_event_says_when_it_was_published(program: Program) -> None:
    seen: list[Event] = []

    @program.outbox.on(CREATED)
    def note(job: RunningJob, event: Event) -> None:
        seen.append(event)

    now = program.app.store.now()
    ref = program.outbox.publish(None, CREATED, aggregate=("Invoice", 42), data=[1])
    program.run()

    assert [(one.id, one.occurred_at, one.aggregate) for one in seen] == [
        (ref.id, now, ("Invoice", "42"))
    ]


def test_an_event_id_counts_once(program: Program) -> None:
    program.subscribe(CREATED)
    first = program.outbox.publish(None, CREATED, data={"n": 1}, event_id="e-1")
    program.run()
    again = program.outbox.publish(None, CREATED, data={"n": 1}, event_id="e-1")
    program.run()

    assert (first.created, again.created) == (True, False)
    assert (first.id, first.job_id) == (again.id, again.job_id)
    assert program.got == [("default", {"n": 1})]


def test_an_event_id_of_another_tenant_is_another(program: Program) -> None:
    program.subscribe(CREATED)
    for tenant in ("a", "b"):
        assert program.outbox.publish(None, CREATED, event_id="e-1", tenant=tenant).created
    program.run()

    assert len(program.got) == 2


def test_an_event_id_that_said_something_else_is_refused(program: Program) -> None:
    program.outbox.publish(None, CREATED, data=1, event_id="e-1")

    with pytest.raises(EventConflict, match="'e-1' was published before"):
        program.outbox.publish(None, CREATED, data=2, event_id="e-1")
    assert issubclass(EventConflict, KeyConflict)
    assert published(program) == [1]


def test_many_are_published_together_or_not_at_all(program: Program) -> None:
    outbox = program.outbox
    wanted = [outbox.event(CREATED, aggregate=("Invoice", n), data=n) for n in range(3)]

    assert [ref.created for ref in outbox.publish_many(None, wanted)] == [True] * 3
    outbox.publish(None, CREATED, event_id="taken", data="first")
    with pytest.raises(EventConflict):
        outbox.publish_many(
            None, [outbox.event(CREATED, data=9), outbox.event(CREATED, event_id="taken", data=2)]
        )
    assert sorted(map(str, published(program))) == ["0", "1", "2", "first"]


def test_a_later_event_is_pending_until_then(program: Program, clock: Any) -> None:
    program.subscribe(CREATED)
    program.outbox.publish(None, CREATED, delay=60)

    assert program.run() == 0
    assert [row.status for row in program.outbox.events()] == [Status.PENDING]
    clock.advance(seconds=61)
    assert program.run() == 2
    assert [row.status for row in program.outbox.events()] == [Status.SENT]


@SQLITE
def test_it_cannot_be_published_beside_an_open_transaction(program: Program) -> None:
    with program.app.transaction(), pytest.raises(OutsideTransaction):
        program.outbox.publish(None, CREATED)


@SQLITE
def test_the_plain_form_on_a_loop_names_the_other(program: Program) -> None:
    async def publish() -> None:
        program.outbox.publish(None, CREATED)

    with pytest.raises(SyncCallOnLoop, match="publish_async"):
        asyncio.run(publish())


@SQLITE
@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"type": ""}, "event type cannot be empty"),
        ({"type": 7}, "event type must be text, not 7"),
        ({"type": "x" * 101}, "event type has 101 characters; at most 100"),
        ({"aggregate": "Invoice"}, r"a pair of its type and its id, like \('Invoice', '42'\)"),
        ({"aggregate": ("Invoice",)}, "a pair of its type and its id"),
        ({"aggregate": ("Invoice", None)}, "a pair of its type and its id"),
        ({"aggregate": ("", "1")}, "aggregate type cannot be empty"),
        ({"aggregate": ("Invoice", "")}, "aggregate id cannot be empty"),
        ({"event_id": ""}, "event id cannot be empty"),
        ({"event_id": 5}, "event id must be text"),
        ({"ordered": True}, r"needs an aggregate=\(TYPE, ID\)"),
        ({"queue": "x"}, "an event has no option 'queue'; there are: aggregate"),
        ({"tenant": None}, "tenant must be text"),
        ({"delay": -1}, "delay must be between 0"),
        ({"tx": "invoice.created"}, "takes the transaction first, not 'invoice.created'"),
        ({"tx": object()}, "tx is a builtins.object"),
        ({"notify": "loudly"}, "notify must be 'transaction'"),
        ({"notify": "transaction"}, "notify='transaction' needs tx"),
    ],
)
def test_what_is_wrong_is_said(program: Program, said: dict[str, Any], problem: str) -> None:
    tx, type = said.pop("tx", None), said.pop("type", CREATED)
    with pytest.raises(OptionError, match=problem):
        program.outbox.publish(tx, type, **said)
    assert published(program) == []


@SQLITE
@pytest.mark.parametrize("data", [{1, 2}, float("nan"), object(), "\ud800"])
def test_data_that_is_no_json_is_refused(program: Program, data: Any) -> None:
    with pytest.raises(PayloadError):
        program.outbox.publish(None, CREATED, data=data)


@SQLITE
def test_only_events_are_published(program: Program) -> None:
    with pytest.raises(OptionError, match=r"made with outbox.event\(...\)"):
        program.outbox.publish_many(None, [program.app.new("other")])


@SQLITE
def test_a_filter_of_the_view_that_cannot_be_is_refused(program: Program) -> None:
    with pytest.raises(OptionError, match="'sent' is not one of PENDING, PROCESSING, SENT, FAILED"):
        program.outbox.view(ViewFilter(status="sent"))
