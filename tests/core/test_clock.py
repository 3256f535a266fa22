"""Moments as they are stored, and the clock that tests turn."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.core.timing.clock import from_micros, seconds_to_micros, to_micros
from tenure.testing import ManualClock


@given(st.datetimes(datetime(1900, 1, 1), datetime(9000, 1, 1), timezones=st.just(UTC)))
def test_a_moment_comes_back_to_the_microsecond(moment: datetime) -> None:
    assert from_micros(to_micros(moment)) == moment


def test_a_moment_is_the_same_in_every_zone() -> None:
    moment = datetime(2026, 1, 1, 12, tzinfo=UTC)

    assert to_micros(moment) == to_micros(moment.astimezone(timezone(timedelta(hours=5))))
    assert from_micros(to_micros(moment)).tzinfo is UTC


@pytest.mark.parametrize(("seconds", "micros"), [(0, 0), (1, 1_000_000), (0.1, 100_000)])
def test_seconds_are_stored_as_whole_microseconds(seconds: float, micros: int) -> None:
    assert seconds_to_micros(seconds) == micros


def test_a_manual_clock_stands_until_it_is_turned() -> None:
    clock = ManualClock()
    before = clock.now()
    assert clock.now() == before
    clock.advance(seconds=1.5)

    assert clock.now() - before == timedelta(seconds=1.5)
    assert clock.now().tzinfo is UTC


def test_a_clock_does_not_go_back() -> None:
    with pytest.raises(ValueError, match="does not go back"):
        ManualClock().advance(seconds=-1)
