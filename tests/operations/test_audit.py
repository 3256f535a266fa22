"""Audit lines: newest first, page by page, and old ones go."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tenure import JobFilter, Tenure
from tenure.operations.audit import KEPT
from tenure.testing.clock import ManualClock


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def app(tmp_path: Path, clock: ManualClock) -> Tenure:
    return Tenure(f"sqlite:///{tmp_path / 'jobs.db'}", clock=clock)


def test_lines_are_told_newest_first_page_by_page(app: Tenure, clock: ManualClock) -> None:
    audit = app.operator.audit
    for number in range(5):
        audit.note("ada", "queue.paused", f"q{number}", number=number)
        clock.advance(seconds=1)

    first = audit.page(limit=3)
    rest = audit.page(limit=3, after=first.next)

    assert [line.target for line in first.rows] == ["q4", "q3", "q2"]
    assert [line.target for line in rest.rows] == ["q1", "q0"]
    assert rest.next is None
    assert first.rows[0].facts == {"number": 4}
    assert first.rows[0].at == clock.now() - timedelta(seconds=1)


def test_lines_that_were_kept_long_enough_go(app: Tenure, clock: ManualClock) -> None:
    audit = app.operator.audit
    audit.note("ada", "queue.paused", "old")
    clock.advance(seconds=KEPT.total_seconds() - 1)
    audit.note("ada", "queue.paused", "young")
    assert len(audit.page().rows) == 2

    clock.advance(seconds=2)
    audit.note("ada", "queue.paused", "new")

    assert [line.target for line in audit.page().rows] == ["new", "young"]


def test_a_line_belongs_to_the_transaction_of_its_action(app: Tenure) -> None:
    with pytest.raises(ZeroDivisionError), app.store.transaction() as tx:
        app.operator.audit.note("ada", "key.created", "k", tx=tx)
        1 / 0  # noqa: B018
    assert list(app.operator.audit.page().rows) == []


def test_operators_moves_leave_lines_and_are_heard(app: Tenure, clock: ManualClock) -> None:
    heard: list[Mapping[str, Any]] = []
    app.signals.subscribe(lambda name, facts: heard.append(facts), "audit.noted")
    app.enqueue("a", tenant="acme")

    app.operator.pause("pdf", "ada")
    app.operator.resume("pdf", "ada")
    app.operator.replay(JobFilter(tenant="acme"), actor="ada")
    app.operator.purge(JobFilter(kinds=("a",)), clock.now(), actor="ada")

    told = [(line["actor"], line["action"], line["target"]) for line in heard]
    assert told == [
        ("ada", "queue.paused", "pdf"),
        ("ada", "queue.resumed", "pdf"),
        ("ada", "jobs.retry", "states=failed,dead tenant=acme"),
        ("ada", "jobs.purge", "kinds=a"),
    ]
    assert len(app.operator.audit.page().rows) == 4


def test_a_long_filter_is_told_in_short(app: Tenure) -> None:
    app.operator.replay(JobFilter(ids=tuple(map(str, range(10_000)))))

    assert len(app.operator.audit.page().rows[0].target) == 300


def test_lines_of_one_moment_keep_their_order(app: Tenure) -> None:
    """SQLite's clock ticks in milliseconds."""
    for number in range(20):
        app.operator.audit.note("ada", "tried", str(number))

    assert [line.target for line in app.operator.audit.page().rows] == [
        str(number) for number in reversed(range(20))
    ]
