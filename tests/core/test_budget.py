"""A budget that is spent really stops."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.core.errors import OptionError
from tenure.core.timing.budget import Budget


class Watch:
    """A monotonic clock that stands until it is turned."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def test_a_budget_without_limits_is_never_spent() -> None:
    budget = Budget()
    budget.use(1_000_000)

    assert (budget.seconds_left, budget.items_left, budget.spent) == (None, None, False)


def test_time_is_spent_by_the_clock() -> None:
    watch = Watch()
    budget = Budget(seconds=10, monotonic=watch)
    assert (budget.seconds_left, budget.spent) == (10, False)

    seen = []
    for passed in (9, 1, 100):
        watch.seconds += passed
        seen.append((budget.seconds_left, budget.spent))
    assert seen == [(1, False), (0, True), (0, True)]


def test_items_are_spent_by_use() -> None:
    budget = Budget(items=3)
    budget.use(2)
    assert (budget.items_left, budget.spent) == (1, False)
    budget.use(5)
    assert (budget.items_left, budget.spent) == (0, True)


def test_nothing_may_be_started_on_an_empty_budget() -> None:
    assert Budget(seconds=0).spent
    assert Budget(items=0).spent


def test_a_negative_budget_is_refused() -> None:
    with pytest.raises(OptionError):
        Budget(seconds=-0.1)
    with pytest.raises(OptionError):
        Budget(items=-1)


LIMIT = st.none() | st.floats(0, 1000)


@given(LIMIT, LIMIT, st.floats(0, 1000))
def test_a_part_never_lasts_longer_than_the_whole(
    whole: float | None, part: float | None, elapsed: float
) -> None:
    watch = Watch()
    budget = Budget(seconds=whole, monotonic=watch)
    watch.seconds += elapsed

    left, mine = budget.seconds_left, budget.part(seconds=part, items=None).seconds_left

    assert (mine is None) == (left is None and part is None)
    if mine is not None:
        assert all(mine <= bound + 1e-6 for bound in (left, part) if bound is not None)


def test_a_part_has_its_own_items() -> None:
    assert Budget(items=100).part(seconds=None, items=5).items_left == 5
