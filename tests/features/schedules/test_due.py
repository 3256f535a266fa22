"""Catching up: which slots fire after a time without workers, and which are left out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import takewhile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenure.features.schedules.cron import Cron
from tenure.features.schedules.due import LONGEST_WALK, CatchUp, Due, due
from tenure.features.schedules.timing import Every

MIDNIGHT = datetime(2026, 1, 1, tzinfo=UTC)
HOURLY = Every(3600)


def hours(*numbers: float) -> tuple[datetime, ...]:
    return tuple(MIDNIGHT + timedelta(hours=number) for number in numbers)


def at(hour: float, catch_up: CatchUp, limit: int = 100) -> Due:
    """What is due at this hour, the slot of 1:00 being the next."""
    first, now = hours(1, hour)
    return due(HOURLY, first, now, catch_up, limit)


@pytest.mark.parametrize("catch_up", CatchUp)
def test_a_slot_in_time_fires_whatever_the_rule(catch_up: CatchUp) -> None:
    assert at(1, catch_up) == Due(hours(1), 0, *hours(2))
    assert at(1 + 1 / 60, catch_up) == Due(hours(1), 0, *hours(2))


def test_none_leaves_out_what_is_late() -> None:
    assert at(1.1, CatchUp.NONE) == Due((), 1, *hours(2))
    assert at(4.1, CatchUp.NONE) == Due((), 4, *hours(5))
    assert at(4, CatchUp.NONE) == Due(hours(4), 3, *hours(5))


def test_last_fires_the_latest_slot() -> None:
    assert at(4.9, CatchUp.LAST) == Due(hours(4), 3, *hours(5))


def test_all_fires_each_up_to_the_limit() -> None:
    assert at(4.9, CatchUp.ALL) == Due(hours(1, 2, 3, 4), 0, *hours(5))
    assert at(4.9, CatchUp.ALL, 2) == Due(hours(3, 4), 2, *hours(5))


def test_a_budget_takes_the_oldest_first() -> None:
    found = at(4.9, CatchUp.ALL)

    assert found.at_most(2) == Due(hours(1, 2), 0, *hours(3))
    assert found.at_most(4) == found.at_most(9) == found


@pytest.mark.parametrize("catch_up", CatchUp)
def test_years_are_walked_in_bounded_steps(catch_up: CatchUp) -> None:
    now, next_at, dropped, looks = MIDNIGHT + timedelta(days=90), MIDNIGHT, 0, 0
    found = Due((), 0, next_at)
    while found.next_at <= now:
        found = due(Every(60), found.next_at, now, catch_up, 30)
        dropped, looks = dropped + found.dropped, looks + 1

    kept = {CatchUp.NONE: 1, CatchUp.LAST: 1, CatchUp.ALL: 30}[catch_up]
    assert (len(found.slots), dropped) == (kept, 90 * 1440 + 1 - kept)
    assert found.slots[-1] == now
    assert looks == pytest.approx(90 * 1440 / LONGEST_WALK, abs=2)


@settings(max_examples=30)
@given(st.lists(st.integers(1, 90), min_size=1, max_size=60))
def test_with_all_every_slot_fires_once_however_one_looks(waits: list[int]) -> None:
    timing = Cron("*/17 * * * *", "Europe/Berlin")
    begun = datetime(2026, 10, 24, 20, tzinfo=UTC)
    next_at = next(timing.slots(begun))
    now, fired = begun, list[datetime]()
    for minutes in waits:
        now += timedelta(minutes=minutes)
        if next_at <= now:
            found = due(timing, next_at, now, CatchUp.ALL, 1000)
            fired, next_at = fired + list(found.slots), found.next_at

    assert fired == list(takewhile(lambda slot: slot <= now, timing.slots(begun)))
