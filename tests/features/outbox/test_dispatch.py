"""Fan-out: one job for each subscriber, also for those whom the publisher does not know."""

from __future__ import annotations

from typing import Any

import pytest

from tenure import OptionError, RunningJob, State, Tenure, Worker
from tenure.core.filter import JobFilter
from tenure.features.outbox import NO_HANDLER, Event, Outbox, Status, ViewFilter
from tenure.features.outbox.dispatch import DISPATCH
from tenure.testing.clock import ManualClock
from tenure.worker.settings import WorkerSettings
from tests.features.outbox.conftest import Make, Program

SQLITE = pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
CREATED = "invoice.created"


def statuses(program: Program, **where: Any) -> list[tuple[str | None, Status]]:
    return sorted(
        ((row.subscriber, row.status) for row in program.outbox.events(ViewFilter(**where))),
        key=str,
    )


def test_every_subscriber_gets_an_event_once(program: Program) -> None:
    program.subscribe(CREATED, "mailer")
    program.subscribe(CREATED, "tax")
    program.subscribe("invoice.paid", "mailer")
    program.outbox.publish(None, CREATED, data=1)

    assert program.run() == 3
    assert sorted(program.got) == [("mailer", 1), ("tax", 1)]
    assert program.run() == 0


def test_a_publisher_need_not_know_who_subscribes(make: Make) -> None:
    shop, mails = make(), make()
    mails.subscribe(CREATED, "mailer")
    shop.outbox.publish(None, CREATED, data=1)
    mails.run()

    assert mails.got == [("mailer", 1)]


def test_a_publisher_may_do_without_handlers_and_without_including_anything(
    make: Make, clock: ManualClock
) -> None:
    mails = make()
    mails.subscribe(CREATED, "mailer")
    bare = Outbox(Tenure(mails.app.url, clock=clock))
    bare.publish(None, CREATED, data=1)
    bare._app.close()
    mails.run()

    assert mails.got == [("mailer", 1)]


def test_an_older_worker_dispatches_to_subscribers_that_only_newer_ones_have(make: Make) -> None:
    old, new = make(), make()
    old.subscribe(CREATED, "mailer")
    new.subscribe(CREATED, "mailer")
    new.subscribe(CREATED, "tax", queue="heavy", ordered=True)
    new.app.runners[-1].run(None)
    old.outbox.publish(None, CREATED, aggregate=("Invoice", 1), data=1)
    old.run()

    assert statuses(old) == [("mailer", Status.SENT), ("tax", Status.PENDING)]
    [tax] = old.app.insight.stream(JobFilter(kinds=("outbox:invoice.created:tax",)))
    assert (tax.queue, tax.max_attempts, tax.ordering_key) == ("heavy", 3, "Invoice/1##outbox@tax")
    new.run()
    assert new.got == [("tax", 1)]


def test_an_event_that_is_still_on_its_way_is_not_sent_a_second_time(
    make: Make, clock: ManualClock
) -> None:
    program = make(window=60)
    program.subscribe(CREATED, "mailer")
    program.subscribe(CREATED, "tax")
    program.outbox.publish(None, CREATED, data={"fails": "tax"}, event_id="e-1")
    program.run()
    clock.advance(seconds=61)
    assert program.outbox.publish(None, CREATED, data={"fails": "tax"}, event_id="e-1").created
    Worker(program.app, queues={"outbox.dispatch": 1}).run_until_idle()

    assert statuses(program) == [
        ("mailer", Status.PENDING), ("mailer", Status.SENT), ("tax", Status.PENDING),
    ]  # fmt: skip


def test_one_failing_subscriber_is_no_matter_of_the_others(
    program: Program, clock: ManualClock
) -> None:
    program.subscribe(CREATED, "mailer")
    program.subscribe(CREATED, "tax")
    ref = program.outbox.publish(None, CREATED, data={"fails": "tax"})
    program.run()
    assert statuses(program) == [("mailer", Status.SENT), ("tax", Status.PENDING)]
    assert program.outbox.get(ref.job_id).status is Status.PENDING

    for _ in range(2):
        clock.advance(seconds=121)
        program.run()

    assert statuses(program) == [("mailer", Status.SENT), ("tax", Status.FAILED)]
    assert program.outbox.get(ref.job_id).status is Status.FAILED
    assert program.got == [("mailer", {"fails": "tax"})]


def test_an_event_that_nobody_wants_is_failed_and_never_sent(make: Make) -> None:
    program = make()
    program.subscribe("other")
    ref = program.outbox.publish(None, CREATED, aggregate=("Invoice", 1), data=1)
    program.run()

    [row] = program.outbox.events()
    assert (row.id, row.status, row.subscriber) == (ref.job_id, Status.FAILED, None)
    assert str(row.last_error).startswith("NO_HANDLER: nobody subscribes to 'invoice.created'")
    job = program.app.get(ref.job_id)
    assert (job.state, job.reason) == (State.FAILED, NO_HANDLER)

    later = make()
    later.subscribe(CREATED)
    later.app.retry(ref.job_id)
    later.run()
    assert later.got == [("default", 1)]
    assert statuses(later) == [("default", Status.SENT)]


def test_an_event_that_nobody_wants_does_not_keep_its_aggregate_waiting(program: Program) -> None:
    program.subscribe(CREATED, ordered=True)
    program.outbox.publish(None, "invoice.viewed", aggregate=("Invoice", 1))
    program.outbox.publish(None, CREATED, aggregate=("Invoice", 1), data=1)
    program.run()

    assert program.got == [("default", 1)]


def test_an_event_that_nobody_wants_may_wait(make: Make, clock: ManualClock) -> None:
    program = make(no_handler="wait")
    program.subscribe("other")
    program.outbox.publish(None, CREATED, data=1)
    program.run()

    [row] = program.outbox.events()
    assert (row.status, row.attempts) == (Status.PENDING, 0)
    assert row.available_at > program.app.store.now()
    assert "nobody subscribes" in str(row.last_error)

    program.subscribe(CREATED)
    clock.advance(seconds=1_000)
    program.run()
    assert program.got == [("default", 1)]


def test_who_unsubscribed_gets_no_more_events(make: Make) -> None:
    old, new = make(), make()
    old.subscribe(CREATED, "gone")
    old.subscribe(CREATED, "mailer")
    old.app.runners[-1].run(None)
    new.subscribe(CREATED, "mailer")
    ended = new.outbox.unsubscribe(CREATED, "gone")
    new.outbox.publish(None, CREATED, data=1)
    new.run()

    assert not ended.active
    assert statuses(new) == [("mailer", Status.SENT)]
    assert [(one.subscriber, one.active) for one in new.outbox.subscriptions()] == [
        ("gone", False),
        ("mailer", True),
    ]


def test_a_worker_whose_code_has_it_subscribes_it_again(make: Make) -> None:
    program = make()
    program.subscribe(CREATED, "mailer")
    program.app.runners[-1].run(None)
    program.outbox.unsubscribe(CREATED, "mailer")
    again = make()
    again.subscribe(CREATED, "mailer")
    Worker(again.app).tick()

    assert [one.active for one in again.outbox.subscriptions()] == [True]


def test_two_programs_that_subscribe_at_once_are_both_written(make: Make) -> None:
    from tenure.testing.conformance.actions import at_once

    programs = [make() for _ in range(4)]
    for number, one in enumerate(programs):
        one.subscribe(CREATED, f"s{number}")
    at_once(4, lambda number: programs[number].app.runners[-1].run(None))

    assert [one.subscriber for one in make().outbox.subscriptions()] == ["s0", "s1", "s2", "s3"]


@SQLITE
def test_the_runner_outbox_takes_events_and_nothing_else(program: Program) -> None:
    @program.app.job("other")
    def other(job: RunningJob) -> None:
        """Nothing."""

    program.subscribe(CREATED)
    other.enqueue()
    program.outbox.publish(None, CREATED, data=1)
    report = Worker(program.app, settings=WorkerSettings(tick_runners=("outbox",))).tick()

    assert [(one.name, one.processed) for one in report.runners] == [("outbox", 2)]
    assert program.app.insight.counts() == {State.QUEUED: 1, State.SUCCEEDED: 2}
    assert program.got == [("default", 1)]


@SQLITE
def test_a_plain_tick_does_every_event_once(program: Program) -> None:
    program.subscribe(CREATED)
    program.outbox.publish(None, CREATED, data=1)
    report = Worker(program.app).tick()

    assert {one.name: one.processed for one in report.runners} == {
        "schedules": 0, "jobs": 2, "outbox": 0, "pruning": 0,
    }  # fmt: skip
    assert program.got == [("default", 1)]


@SQLITE
def test_an_event_that_nobody_wants_is_told(program: Program) -> None:
    heard: list[Any] = []
    program.app.signals.subscribe(
        lambda name, facts: heard.append(facts["type"]) if name == "outbox.unhandled" else None
    )
    program.outbox.publish(None, CREATED)
    program.run()

    assert heard == [CREATED]


def sound(job: RunningJob, event: Event) -> None:
    """As a subscriber should be."""


def without_event(job: RunningJob) -> None: ...


def untyped(job: RunningJob, event): ...  # type: ignore[no-untyped-def]


def misnamed(job: RunningJob, happening: Event) -> None: ...


@SQLITE
@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"type": ""}, "event type cannot be empty"),
        ({"type": None}, "event type must be text"),
        ({"subscriber": ""}, "subscriber cannot be empty"),
        ({"subscriber": "a:b"}, "may have letters, digits"),
        ({"subscriber": "s" * 41}, "subscriber has 41 characters; at most 40"),
        ({"queue": ""}, "queue cannot be empty"),
        ({"on_failure": "stop", "ordered": True}, "'stop' is not one of block, skip"),
        ({"on_failure": "skip"}, "give ordered=True too"),
        ({"timeout": 0}, "timeout must be a positive number"),
        ({"ordring": True}, "a subscriber has no option 'ordring'"),
        ({"function": without_event}, r"write it as: def name\(job: RunningJob, event: Event\)"),
        ({"function": untyped}, "untyped cannot be a subscriber"),
        ({"function": misnamed}, "misnamed cannot be a subscriber"),
        ({"function": None}, "cannot be a subscriber"),
    ],
)
def test_a_subscriber_that_cannot_be_is_refused(
    program: Program, said: dict[str, Any], problem: str
) -> None:
    function, type = said.pop("function", sound), said.pop("type", CREATED)
    with pytest.raises(OptionError, match=problem):
        program.outbox.on(type, **said)(function)
    assert program.outbox.subscriptions() == []
    assert program.app.handlers.kinds == [DISPATCH]


@SQLITE
def test_a_subscriber_takes_events_of_a_later_version(program: Program) -> None:
    handler = program.outbox.on(CREATED)(sound)

    found = handler.unpack('{"event": {"id": "1", "type": "invoice.created", "later": true}}')
    assert found == {"event": Event(id="1", type=CREATED)}


@SQLITE
def test_one_name_subscribes_once_to_a_type(program: Program) -> None:
    program.outbox.on(CREATED, subscriber="mailer")(sound)
    program.outbox.on("invoice.paid", subscriber="mailer")(sound)

    with pytest.raises(OptionError, match=r"'mailer' subscribes to 'invoice.created' already"):
        program.outbox.on(CREATED, subscriber="mailer")(sound)
    with pytest.raises(OptionError, match=r"'nobody' does not subscribe to 'x'"):
        program.outbox.unsubscribe("x", "nobody")


@SQLITE
@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"no_handler": "ignore"}, "'ignore' is not one of fail, wait"),
        ({"window": 0}, "window must be greater than 0"),
        ({"window": -1}, "window takes seconds"),
    ],
)
def test_an_outbox_that_cannot_be_is_refused(
    make: Make, said: dict[str, Any], problem: str
) -> None:
    with pytest.raises(OptionError, match=problem):
        make(**said)
