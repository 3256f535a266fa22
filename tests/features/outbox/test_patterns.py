"""Subscribers by pattern: `invoice.*` and `*`, each event once for each subscriber."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure import OptionError, RunningJob, State, Tenure, Worker
from tenure.core.filter import JobFilter
from tenure.features.outbox import Event, Outbox, Status, ViewFilter
from tenure.features.outbox.checks import check
from tenure.features.outbox.patterns import candidates, check_pattern, is_pattern, matches
from tests.features.outbox.conftest import Make, Program

SEGMENT = st.text("abAB_-", min_size=1, max_size=3)
TYPES = st.lists(SEGMENT, min_size=1, max_size=4).map(".".join)


@pytest.mark.parametrize(
    ("pattern", "type", "does"),
    [
        ("*", "anything", True),
        ("*", "a.b.c", True),
        ("invoice.*", "invoice.paid", True),
        ("invoice.*", "invoice.line.added", True),
        ("invoice.*", "invoice", False),
        ("invoice.*", "invoices.paid", False),
        ("invoice.*", "invoice.", False),
        ("invoice.line.*", "invoice.paid", False),
        ("invoice.paid", "invoice.paid", True),
    ],
)
def test_a_star_stands_for_one_or_more_segments(pattern: str, type: str, does: bool) -> None:
    assert matches(pattern, type) is does


@given(TYPES, TYPES)
def test_the_candidates_of_a_type_are_what_matches_it(type: str, other: str) -> None:
    patterns = {"*", *(f"{one}.*" for one in (type, other))}
    patterns |= {".".join(other.split(".")[:n]) + ".*" for n in range(1, 4)}

    assert {one for one in patterns if matches(one, type)} == patterns & set(candidates(type))
    assert not any(is_pattern(one) for one in (type, other))


@pytest.mark.parametrize(
    "pattern",
    ["in*voice", ".*", "invoice*", "*.paid", "invoice.*.paid", "a..*", "**", "*.*", "", " ",
     "a\n.*", "invoice.* ", None, 7, "x" * 500 + ".*"],
)  # fmt: skip
def test_a_wrong_pattern_is_refused(app: Tenure, pattern: Any) -> None:
    outbox = Outbox(app)

    with pytest.raises(OptionError):
        check_pattern(pattern)
    with pytest.raises(OptionError):
        outbox.on(pattern)
    with pytest.raises(OptionError):
        outbox.on_publish(pattern, lambda event: None)
    assert outbox.subscriptions() == []


def test_an_event_has_a_type_not_a_pattern(program: Program) -> None:
    with pytest.raises(OptionError, match="not the pattern"):
        program.outbox.publish(None, "invoice.*")


def test_each_subscriber_gets_an_event_once_by_its_most_specific_pattern(program: Program) -> None:
    for type in ("*", "invoice.*", "invoice.paid"):
        program.subscribe(type, "audit")
    program.subscribe("*", "log")
    program.subscribe("order.*", "orders")
    for type in ("invoice.paid", "invoice.line.added", "order.placed", "other"):
        program.outbox.publish(None, type, data=type)
    program.run()

    assert sorted(program.got) == [
        *(("audit", type) for type in ("invoice.line.added", "invoice.paid", "order.placed")),
        ("audit", "other"),
        *(("log", type) for type in ("invoice.line.added", "invoice.paid", "order.placed")),
        ("log", "other"),
        ("orders", "order.placed"),
    ]
    kinds = [job.kind for job in program.app.insight.stream(JobFilter(queues=("outbox",)))]
    assert kinds.count("outbox:invoice.paid:audit") == 1
    assert kinds.count("outbox:invoice.*:audit") == 1
    assert kinds.count("outbox:*:audit") == 2


def test_a_pattern_is_named_after_its_function(program: Program) -> None:
    @program.outbox.on("invoice.*")
    def first(job: RunningJob, event: Event) -> None:
        program.got.append(("first", event.type))

    @program.outbox.on("*")
    def second(job: RunningJob, event: Event) -> None:
        program.got.append(("second", event.type))

    program.outbox.publish(None, "invoice.paid")
    program.run()

    assert sorted(program.got) == [("first", "invoice.paid"), ("second", "invoice.paid")]


def test_other_programs_know_patterns_too_and_they_end(make: Make) -> None:
    first, second = make(), make()
    first.subscribe("invoice.*", "audit")
    Worker(first.app).tick()  # its runner registers the subscription
    second.outbox.publish(None, "invoice.paid", data=1)
    second.run()
    assert second.got == []
    first.run()
    assert first.got == [("audit", 1)]

    second.outbox.unsubscribe("invoice.*", "audit")
    event = second.outbox.publish(None, "invoice.paid")
    second.run()
    [row] = second.outbox.find(event.id)
    assert (row.status, row.subscriber) == (Status.FAILED, None)


def test_order_holds_across_types(program: Program) -> None:
    program.subscribe("invoice.*", "mirror", ordered=True)
    order = ["invoice.created", "invoice.line.added", "invoice.paid", "invoice.closed"]
    for type in order:
        program.outbox.publish(None, type, aggregate=("Invoice", 1), data=type)
    program.run()

    assert program.got == [("mirror", type) for type in order]


def test_the_view_shows_deliveries_of_patterns(program: Program) -> None:
    program.subscribe("invoice.*", "audit")
    ref = program.outbox.publish(None, "invoice.paid", data={"fails": "audit"})
    program.outbox.publish(None, "invoice.sent")
    program.run()

    view = program.outbox.view
    assert [row.type for row in view(ViewFilter(type="invoice.paid")).rows] == ["invoice.paid"]
    assert len(view(ViewFilter(type="invoice.*", subscriber="audit")).rows) == 2
    assert view(ViewFilter(type="order.*")).rows == []
    assert program.outbox.get(ref.job_id).status is Status.PENDING
    [row] = program.outbox.find(ref.id)
    assert (row.subscriber, row.status) == ("audit", Status.PENDING)


def test_an_event_that_no_pattern_matches_has_no_handler(program: Program) -> None:
    program.subscribe("invoice.*", "audit")
    ref = program.outbox.publish(None, "order.placed")
    program.run()

    assert program.app.get(ref.job_id).state is State.FAILED
    facts = [finding.fact for finding in check(program.app)]
    assert "no event has matched these patterns: invoice.*" in facts


def test_an_outbox_that_declares_its_types_refuses_others(make: Make) -> None:
    outbox = make(types=["invoice.paid", "invoice.line.added"]).outbox

    with pytest.raises(OptionError, match=r"'invoyce.\*' matches none of .*: invoice.line.added"):
        outbox.on("invoyce.*")
    with pytest.raises(OptionError, match=r"'invoice\.sent' is not one of"):
        outbox.on("invoice.sent")
    with pytest.raises(OptionError, match=r"'invoice\.sent' is not one of"):
        outbox.publish(None, "invoice.sent")
    outbox.on("invoice.line.*")
    outbox.publish(None, "invoice.paid")
    with pytest.raises(OptionError, match="pattern"):
        make(types=["invoice.*"])
    with pytest.raises(OptionError, match="types takes a list"):
        make(types="invoice.paid")
