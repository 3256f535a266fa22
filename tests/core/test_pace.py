"""How long a loop waits: soon after work, longer and longer when idle."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.core.timing.pace import Pace

PACE = Pace(busy=0.25, idle_min=1, idle_max=10, idle_jitter=0.5, error=5, error_jitter=1)
RANDOM = st.floats(0, 1, exclude_max=True)


@pytest.mark.parametrize(("turns", "seconds"), [(1, 1), (2, 2), (3, 4), (4, 8), (5, 10), (999, 10)])
def test_idle_waits_double_up_to_their_bound(turns: int, seconds: float) -> None:
    assert PACE.after_idle(turns, lambda: 0.0) == seconds


@given(st.integers(1, 10**6), RANDOM)
def test_idle_waits_stay_within_their_bounds(turns: int, random: float) -> None:
    assert 1 <= PACE.after_idle(turns, lambda: random) <= 10.5


@given(RANDOM)
def test_work_and_errors_have_waits_of_their_own(random: float) -> None:
    assert 0.25 <= PACE.after_work(lambda: random) <= 0.75
    assert 5 <= PACE.after_error(lambda: random) <= 6


def test_a_busy_wait_of_zero_is_no_wait_at_all() -> None:
    pace = Pace(busy=0, idle_min=1, idle_max=1, idle_jitter=0.5, error=1, error_jitter=0)

    assert pace.after_work(lambda: 0.9) == 0
