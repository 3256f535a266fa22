"""The inbox: a message counts once, in the transaction of what it causes."""

from __future__ import annotations

import asyncio
import threading
from contextlib import closing
from typing import Any

import psycopg
import pytest
from sqlalchemy.orm import Session

from tenure import OptionError, RunningJob, Worker
from tenure.core.errors import NeedsTransaction, SyncCallOnLoop
from tenure.features.outbox import Inbox
from tenure.testing.clock import ManualClock
from tests.features.outbox.conftest import Program
from tests.stores.test_foreign_transaction import connect
from tests.support.databases import engine_for

SQLITE = pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
POSTGRES = pytest.mark.parametrize("dialect", ["postgres"], indirect=True)


@pytest.fixture
def inbox(program: Program) -> Inbox:
    return Inbox(program.app)


def receive(program: Program, inbox: Inbox, message: str = "m-1", **options: Any) -> bool:
    with program.app.transaction() as tx:
        return inbox.first(tx, "payments", message, **options)


def test_a_message_counts_once(program: Program, inbox: Inbox) -> None:
    assert [receive(program, inbox) for _ in range(3)] == [True, False, False]
    assert receive(program, inbox, "m-2")
    assert receive(program, inbox, tenant="acme")
    with program.app.transaction() as tx:
        assert inbox.first(tx, "invoices", "m-1")


def test_a_message_whose_effects_rolled_back_counts_again(program: Program, inbox: Inbox) -> None:
    with pytest.raises(ZeroDivisionError), inbox("payments", "m-1") as tx:
        assert tx is not None
        tx.enqueue("effect")
        raise ZeroDivisionError
    for _ in range(2):
        with inbox("payments", "m-1") as tx:
            if tx:
                tx.enqueue("effect")

    assert sum(program.app.insight.counts().values()) == 1


def test_it_is_part_of_a_plain_connection_and_of_a_session(program: Program, inbox: Inbox) -> None:
    with closing(connect(program.app.url)) as connection:
        assert inbox.first(connection, "payments", "m-1")
        connection.rollback()
        assert inbox.first(connection, "payments", "m-1")
        connection.commit()
    engine = engine_for(program.app.url)
    with Session(engine) as session:
        assert not inbox.first(session, "payments", "m-1")
        assert inbox.first(session, "payments", "m-2")
        session.commit()
    engine.dispose()

    assert not receive(program, inbox, "m-2")


@POSTGRES
def test_it_is_part_of_an_async_connection(program: Program, inbox: Inbox) -> None:
    async def receive_twice() -> list[bool]:
        connection = await psycopg.AsyncConnection.connect(program.app.url)
        answers = [await inbox.first_async(connection, "payments", "m-1") for _ in range(2)]
        await connection.commit()
        await connection.close()
        return answers

    assert asyncio.run(receive_twice()) == [True, False]
    assert asyncio.run(receive_twice()) == [False, False]


def test_it_is_part_of_the_end_of_a_job(program: Program, inbox: Inbox) -> None:
    counted: list[str] = []

    @program.app.job("receive")
    def plain(job: RunningJob, message: str) -> None:
        with job.settle() as tx:
            if inbox.first(tx, "payments", message):
                counted.append(message)

    @program.app.job("receive.async")
    async def awaited(job: RunningJob, message: str) -> None:
        async with job.settle() as tx:
            if await inbox.first_async(tx, "payments", message):
                counted.append(message)

    for message in ("m-1", "m-2", "m-1"):
        plain.enqueue(message)
        awaited.enqueue(message)
    program.run()

    assert sorted(counted) == ["m-1", "m-2"]


def test_of_two_at_once_the_other_waits_and_is_told_no(program: Program, inbox: Inbox) -> None:
    answers: list[bool] = []
    other = threading.Thread(target=lambda: answers.append(receive(program, inbox)))
    with program.app.transaction() as tx:
        assert inbox.first(tx, "payments", "m-1")
        other.start()
        other.join(0.2)
        assert answers == []
    other.join()

    assert answers == [False]


def test_a_message_is_remembered_for_its_window(program: Program, clock: ManualClock) -> None:
    inbox = Inbox(program.app, window=60)
    assert receive(program, inbox)
    clock.advance(seconds=59)
    assert not receive(program, inbox)
    clock.advance(seconds=2)
    assert receive(program, inbox)


def test_what_is_over_is_pruned(program: Program, clock: ManualClock) -> None:
    inbox = Inbox(program.app, window=60)
    for number in range(5):
        receive(program, inbox, f"m-{number}")
    clock.advance(seconds=61)
    Worker(program.app).tick()

    with program.app.transaction() as tx:
        assert tx.execute("SELECT count(*) FROM tenure_keys").fetchone()[0] == 0


@pytest.mark.parametrize("message", ["m" * 1_000, "a\x00b", "\ud800", " m ", "é🙂", "M-1"])
def test_any_text_is_a_message_id(program: Program, inbox: Inbox, message: str) -> None:
    assert receive(program, inbox)
    assert receive(program, inbox, message)
    assert not receive(program, inbox, message)


@SQLITE
def test_it_needs_a_transaction(inbox: Inbox) -> None:
    for wrong in (None, "payments"):
        with pytest.raises(NeedsTransaction, match=r"needs a transaction; pass"):
            inbox.first(wrong, "payments", "m-1")
        with pytest.raises(NeedsTransaction):
            asyncio.run(inbox.first_async(wrong, "payments", "m-1"))


@SQLITE
def test_the_plain_form_on_a_loop_names_the_other(inbox: Inbox) -> None:
    async def receive() -> None:
        inbox.first(object(), "payments", "m-1")

    with pytest.raises(SyncCallOnLoop, match="first_async"):
        asyncio.run(receive())


@SQLITE
@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"consumer": ""}, "consumer cannot be empty"),
        ({"consumer": "c" * 141}, "consumer has 141 characters"),
        ({"message_id": ""}, "a message id is text that is not empty"),
        ({"message_id": 7}, "a message id is text that is not empty, not 7"),
        ({"tenant": None}, "tenant must be text"),
    ],
)
def test_what_is_wrong_is_said(
    program: Program, inbox: Inbox, said: dict[str, Any], problem: str
) -> None:
    given = {"consumer": "payments", "message_id": "m-1", **said}
    with program.app.transaction() as tx, pytest.raises(OptionError, match=problem):
        inbox.first(tx, **given)


@SQLITE
def test_a_window_that_cannot_be_is_refused(program: Program) -> None:
    for window in (0, -1, "week"):
        with pytest.raises(OptionError, match="window"):
            Inbox(program.app, window=window)  # type: ignore[arg-type]
