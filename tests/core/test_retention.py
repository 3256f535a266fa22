"""How a walk over finished jobs goes on, ends, and begins anew."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tenure.core.job import DEAD_LETTERS, State
from tenure.core.rules.retention import Purged, Rule, Walk, onward, resume, rules

NOW = datetime(2030, 1, 8, tzinfo=UTC)
HOUR = timedelta(hours=1)
WEEK = Rule(name="finished", states=(State.SUCCEEDED,), keep=timedelta(days=7))
BEFORE = NOW - WEEK.keep


def test_a_time_makes_a_rule_and_for_ever_none() -> None:
    (ordinary,) = rules(60, None)
    (letters,) = rules(None, 60)

    assert State.SUCCEEDED in ordinary.states
    assert not set(ordinary.states) & set(DEAD_LETTERS)
    assert letters.states == DEAD_LETTERS
    assert rules(None, None) == ()


@pytest.mark.parametrize(
    ("kept", "late", "again"),
    [
        (timedelta(days=7), HOUR, timedelta(days=1)),
        (5 * HOUR, HOUR / 2, 5 * HOUR),
        (timedelta(seconds=10), timedelta(seconds=1), timedelta(minutes=1)),
    ],
)
def test_a_short_time_kept_allows_less_for_running(
    kept: timedelta, late: timedelta, again: timedelta
) -> None:
    rule = Rule(name="x", states=(), keep=kept)

    assert (rule.late, rule.again) == (late, again)


def test_a_walk_begins_anew_when_the_last_one_began_long_enough_ago() -> None:
    lately, long_ago = Walk(NOW - HOUR, "7"), Walk(NOW - 24 * HOUR, "7")

    assert resume(WEEK, None, NOW) == Walk(NOW)
    assert resume(WEEK, lately, NOW) == lately
    assert resume(WEEK, long_ago, NOW) == Walk(NOW)


def test_a_walk_goes_on_until_the_rest_is_too_young_or_there_is_none() -> None:
    walk = Walk(NOW, "7")
    old, young = BEFORE - 2 * HOUR, BEFORE - HOUR / 2

    assert onward(WEEK, walk, Purged(next="9"), BEFORE) == Walk(NOW, "9")
    assert onward(WEEK, walk, Purged(next="9", reached=old), BEFORE) == Walk(NOW, "9")
    assert onward(WEEK, walk, Purged(next="9", reached=young), BEFORE) is None
    assert onward(WEEK, walk, Purged(), BEFORE) is None
