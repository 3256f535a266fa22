"""The outbox as it is seen: stages, times, holders and errors of each delivery."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tenure import Cancel, Fail, JobNotFound, NotFound, RunningJob, Skip, State
from tenure.features.outbox import Event, OutboxEvent, OutboxSettings, Status, ViewFilter
from tenure.features.outbox.view import STATUS, overall
from tenure.testing.clock import ManualClock
from tests.features.outbox.conftest import Make, Program

CREATED = "invoice.created"
SQLITE = pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)


def only(program: Program, **where: Any) -> OutboxEvent:
    [row] = program.outbox.events(ViewFilter(**where))
    return row


def test_an_event_goes_from_pending_by_processing_to_sent(program: Program) -> None:
    seen: list[OutboxEvent] = []

    @program.outbox.on(CREATED, subscriber="mailer")
    def mail(job: RunningJob, event: Event) -> None:
        seen.append(program.outbox.get(job.id))

    ref = program.outbox.publish(None, CREATED, aggregate=("Invoice", 42), data={"n": 1})
    before = only(program)
    assert (before.status, before.subscriber, before.attempts) == (Status.PENDING, None, 0)
    program.run()
    after = only(program)

    assert (seen[0].status, seen[0].attempts) == (Status.PROCESSING, 1)
    assert seen[0].locked_by
    assert seen[0].locked_until == program.app.store.now() + timedelta(seconds=30)
    assert (after.status, after.subscriber, after.locked_by) == (Status.SENT, "mailer", None)
    assert (after.event_id, after.aggregate_type, after.aggregate_id, after.payload) == (
        ref.id, "Invoice", "42", {"n": 1},
    )  # fmt: skip
    assert program.outbox.get(ref.job_id).status is Status.SENT


def test_one_that_is_retried_is_pending_and_available_later(
    program: Program, clock: ManualClock
) -> None:
    program.subscribe(CREATED, "mailer")
    program.outbox.publish(None, CREATED, data={"fails": "mailer"})
    program.run()

    row = only(program)
    wait = (row.available_at - program.app.store.now()).total_seconds()
    assert (row.status, row.attempts, row.max_attempts) == (Status.PENDING, 1, 3)
    assert 5.0 <= wait <= 5.5
    assert row.last_error == "RuntimeError: no luck"

    for seconds in (6, 11):
        clock.advance(seconds=seconds)
        program.run()
    assert (only(program).status, only(program).attempts) == (Status.FAILED, 3)
    assert only(program).last_error == "RuntimeError: no luck"


def test_the_settings_decide_how_often_and_how_long(make: Make, clock: ManualClock) -> None:
    settings = OutboxSettings(
        max_attempts=2, retry_base_ms=40_000, retry_max_ms=60_000, retry_jitter_ms=0
    )
    program = make(settings=settings)
    program.subscribe(CREATED)
    program.outbox.publish(None, CREATED, data={"fails": "default"})
    program.run()
    assert only(program).available_at == program.app.store.now() + timedelta(seconds=40)

    clock.advance(seconds=41)
    program.run()
    assert (only(program).status, only(program).attempts) == (Status.FAILED, 2)


@SQLITE
@pytest.mark.parametrize(
    ("outcome", "status", "error"),
    [
        (Fail("wrong address", code="bounced"), Status.FAILED, "bounced: wrong address"),
        (Cancel("not wanted"), Status.FAILED, "Cancel: not wanted"),
        (NotFound("no such invoice"), Status.FAILED, "NotFound: no such invoice"),
        (Skip("paid already"), Status.SENT, "Skip: paid already"),
    ],
)
def test_every_ending_is_sent_or_failed(
    program: Program, outcome: Any, status: Status, error: str
) -> None:
    @program.outbox.on(CREATED)
    def mail(job: RunningJob, event: Event) -> None:
        raise outcome

    program.outbox.publish(None, CREATED)
    program.run()

    assert (only(program).status, only(program).last_error) == (status, error)


@SQLITE
def test_a_delivery_that_an_operator_cancelled_is_failed(program: Program) -> None:
    program.subscribe(CREATED)
    ref = program.outbox.publish(None, CREATED, delay=60)
    program.app.cancel(ref.job_id)

    assert (only(program).status, only(program).last_error) == (Status.FAILED, "canceled")


def test_it_is_asked_by_stage_type_subscriber_and_tenant(program: Program) -> None:
    program.subscribe(CREATED, "mailer")
    program.subscribe(CREATED, "tax")
    program.subscribe("invoice.paid", "mailer")
    program.outbox.publish(None, CREATED, tenant="a", data={"fails": "tax"})
    program.outbox.publish(None, "invoice.paid", tenant="b")
    program.run()
    program.outbox.publish(None, CREATED, tenant="b", delay=60)
    program.outbox.publish(None, "unknown", tenant="b")
    program.run()

    def count(**where: Any) -> int:
        return len(list(program.outbox.events(ViewFilter(**where))))

    assert count() == 5
    assert count(status="SENT") == 2
    assert count(status=Status.PENDING) == 2
    assert (count(status="FAILED"), count(status="PROCESSING")) == (1, 0)
    assert (count(type=CREATED), count(type="invoice.paid"), count(type="unknown")) == (3, 1, 1)
    assert (count(subscriber="mailer"), count(subscriber="tax")) == (2, 1)
    assert count(subscriber="nobody") == 0
    assert (count(tenant="a"), count(tenant="b")) == (2, 3)
    assert count(type=CREATED, status="SENT", subscriber="mailer", tenant="a") == 1


def test_pages_are_full_though_dispatched_events_are_left_out(program: Program) -> None:
    program.subscribe(CREATED)
    for number in range(7):
        program.outbox.publish(None, CREATED, data=number)
    program.run()

    first = program.outbox.view(limit=3)
    second = program.outbox.view(limit=3, after=first.next)
    third = program.outbox.view(limit=3, after=second.next)
    numbers = [row.payload for page in (first, second, third) for row in page.rows]
    assert [len(page.rows) for page in (first, second, third)] == [3, 3, 1]
    assert sorted(numbers) == list(range(7))
    assert third.next is None


def test_one_event_is_found_by_its_id(program: Program) -> None:
    program.subscribe(CREATED, "mailer")
    program.subscribe(CREATED, "tax")
    mine = program.outbox.publish(None, CREATED, event_id="mine", data=1)
    other = program.outbox.publish(None, CREATED, data=2)
    for ref in (mine, other):
        assert [row.id for row in program.outbox.find(ref.id)] == [ref.job_id]
    program.run()

    for ref in (mine, other):
        rows = program.outbox.find(ref.id)
        assert sorted(str(row.subscriber) for row in rows) == ["mailer", "tax"]
    assert program.outbox.find("other") == []
    assert program.outbox.find("mine", tenant="b") == []


@SQLITE
def test_only_events_are_shown(program: Program) -> None:
    ref = program.app.enqueue("other")

    assert list(program.outbox.events()) == []
    with pytest.raises(JobNotFound, match="in the outbox: it is of kind other"):
        program.outbox.get(ref.id)


@SQLITE
def test_programs_read_the_names_of_old(program: Program) -> None:
    program.outbox.publish(None, CREATED, aggregate=("Invoice", 42), data={"n": 1})

    assert set(only(program).to_dict()) == {
        "id", "eventId", "type", "subscriber", "status", "aggregateType", "aggregateId",
        "payload", "attempts", "maxAttempts", "availableAt", "lockedBy", "lockedUntil",
        "lastError", "tenantId", "correlationId", "createdAt", "finishedAt",
    }  # fmt: skip


def test_every_state_has_a_stage() -> None:
    assert set(STATUS) == set(State)


@pytest.mark.parametrize(
    ("parts", "whole"),
    [
        ([Status.SENT, Status.FAILED, Status.PENDING], Status.FAILED),
        ([Status.SENT, Status.PENDING, Status.PROCESSING], Status.PROCESSING),
        ([Status.SENT, Status.PENDING], Status.PENDING),
        ([Status.SENT], Status.SENT),
        ([], Status.SENT),
    ],
)
def test_an_event_is_sent_when_everybody_has_it(parts: list[Status], whole: Status) -> None:
    assert overall(parts) is whole
