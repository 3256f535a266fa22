"""Cron and intervals: the slots of a year, through both changes of the clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure import OptionError
from tenure.features.schedules.cron import ALIASES, Cron
from tenure.features.schedules.timing import Every, following

BERLIN = "Europe/Berlin"
SPRING, AUTUMN = datetime(2026, 3, 28, tzinfo=UTC), datetime(2026, 10, 24, tzinfo=UTC)


def local(cron: Cron, after: datetime, count: int) -> list[str]:
    """The next slots as a clock on a wall shows them."""
    zone = ZoneInfo(cron.zone)
    found = islice(cron.slots(after), count)
    return [slot.astimezone(zone).strftime("%d %H:%M %z") for slot in found]


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        ("0 3 * * *", ["28 03:00 +0000", "29 03:00 +0000"]),
        ("*/20 9-17/4 * * *", ["28 09:00 +0000", "28 09:20 +0000", "28 09:40 +0000"]),
        ("0 0 1,15 * *", ["01 00:00 +0000", "15 00:00 +0000"]),
        ("0 0 * APR mon-fri", ["01 00:00 +0000", "02 00:00 +0000", "03 00:00 +0000"]),
        ("@daily", ["29 00:00 +0000", "30 00:00 +0000"]),
        ("@HOURLY", ["28 01:00 +0000", "28 02:00 +0000"]),
        ("@monthly", ["01 00:00 +0000", "01 00:00 +0000"]),
        ("0 0 L * *", ["31 00:00 +0000", "30 00:00 +0000"]),
    ],
)
def test_expressions(expression: str, shown: list[str]) -> None:
    assert local(Cron(expression), SPRING, len(shown)) == shown


@pytest.mark.parametrize("name", ALIASES)
def test_every_alias_is_understood(name: str) -> None:
    assert following(Cron(name), SPRING) > SPRING


def test_a_time_that_spring_leaves_out_comes_at_the_end_of_the_gap() -> None:
    shown = ["28 02:30 +0100", "29 03:00 +0200", "30 02:30 +0200"]

    assert local(Cron("30 2 * * *", BERLIN), SPRING, 3) == shown


def test_several_times_in_the_gap_are_one_slot() -> None:
    shown = ["28 02:10 +0100", "28 02:50 +0100", "29 03:00 +0200", "30 02:10 +0200"]

    assert local(Cron("10,50 2 * * *", BERLIN), SPRING, 4) == shown


def test_a_time_that_autumn_repeats_comes_once() -> None:
    shown = ["24 02:30 +0200", "25 02:30 +0200", "26 02:30 +0100"]

    assert local(Cron("30 2 * * *", BERLIN), AUTUMN, 3) == shown


def test_a_walk_that_begins_in_the_repeated_hour_does_not_go_back() -> None:
    second_time = datetime(2026, 10, 25, 1, 20, tzinfo=UTC)

    assert local(Cron("30 2 * * *", BERLIN), second_time, 1) == ["26 02:30 +0100"]


def test_wildcards_go_by_the_time_that_passes() -> None:
    spring = ["29 01:00 +0100", "29 03:00 +0200", "29 04:00 +0200"]
    autumn = ["25 02:00 +0200", "25 02:00 +0100", "25 03:00 +0100"]

    assert local(Cron("0 * * * *", BERLIN), datetime(2026, 3, 28, 23, tzinfo=UTC), 3) == spring
    assert local(Cron("0 * * * *", BERLIN), datetime(2026, 10, 24, 23, tzinfo=UTC), 3) == autumn


def test_every_is_a_multiple_of_absolute_time() -> None:
    slots = list(islice(Every(5400).slots(SPRING + timedelta(minutes=1)), 40))

    assert slots[0] == SPRING + timedelta(minutes=90)
    assert {later - sooner for sooner, later in pairwise(slots)} == {timedelta(minutes=90)}


TIMINGS = st.sampled_from(
    [Every(1), Every(7 * 86_400), Cron("30 2 * * *", BERLIN), Cron("0 * * * *", BERLIN),
     Cron("*/7 1-3 * * *", "America/New_York"), Cron("0,45 1,2 * * *", "Australia/Lord_Howe")]
)  # fmt: skip


@given(TIMINGS, st.datetimes(datetime(2026, 1, 1), datetime(2027, 2, 1), timezones=st.just(UTC)))
def test_the_walk_does_not_depend_on_where_it_begins(timing: Cron | Every, after: datetime) -> None:
    walk = list(islice(timing.slots(after), 5))

    assert after < walk[0]
    assert all(following(timing, sooner) == later for sooner, later in pairwise(walk))
    assert following(timing, walk[0] - timedelta(microseconds=1)) == walk[0]


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("61 * * * *", "bad minute"),
        ("0 24 * * *", "bad hour"),
        ("0 0 31 2 *", "bad day-of-month"),
        ("0 0 * 13 *", "bad month"),
        ("0 0 * * fritag", "bad day-of-week"),
        ("*/0 * * * *", "bad minute"),
        ("0 0 * 2 0#6", "bad day-of-week"),
        ("* * * *", "five fields"),
        ("0 0 0 * * *", "five fields"),
        ("@sometimes", "five fields"),
        ("", "five fields"),
        (None, "no text"),
    ],
)
def test_a_wrong_expression_is_refused_with_the_fix(expression: str, problem: str) -> None:
    with pytest.raises(OptionError, match=rf"cron .*{problem}.*minute hour day month weekday"):
        Cron(expression)


@pytest.mark.parametrize("zone", ["Berlin", "Europe", "", "../etc/passwd", "CEST ", None, 2])
def test_a_wrong_zone_is_refused_with_the_fix(zone: str) -> None:
    with pytest.raises(OptionError, match=r"zone .* is not a time zone.*Europe/Berlin"):
        Cron("@daily", zone)


@pytest.mark.parametrize("seconds", [0, -1, 0.5, True, 10**9, None])
def test_a_wrong_interval_is_refused_with_the_fix(seconds: int) -> None:
    with pytest.raises(OptionError, match=r"every must be from 1 second.*minutes="):
        Every(seconds)
