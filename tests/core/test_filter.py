"""A filter knows whether anything was asked for."""

from __future__ import annotations

from typing import Any

import pytest

from tenure.core.filter import JobFilter
from tenure.core.job import DEAD_LETTERS, FINAL_STATES, OPEN_STATES, State


def test_a_filter_without_conditions_is_empty() -> None:
    assert JobFilter().empty


@pytest.mark.parametrize("condition", [{"ids": ()}, {"tenant": ""}, {"states": (State.DEAD,)}])
def test_any_condition_counts_even_an_empty_one(condition: dict[str, Any]) -> None:
    assert not JobFilter(**condition).empty


def test_every_state_is_open_or_final() -> None:
    assert set(OPEN_STATES) | set(FINAL_STATES) == set(State)
    assert [state for state in State if not state.final] == list(OPEN_STATES)
    assert set(DEAD_LETTERS) < set(FINAL_STATES)
