"""How much a worker claims: its slots, and a short line before those of fast handlers."""

from __future__ import annotations

import pytest

from tenure import OptionError
from tenure.worker.slots import MOST_WAITING, Lane, Slots


def test_a_queue_needs_a_slot() -> None:
    with pytest.raises(OptionError, match="at least one slot"):
        Slots({"pdf": 0})


def test_an_unknown_queue_gets_its_slots_and_no_line() -> None:
    assert Slots({"pdf": 2, "mail": 10}).room() == {"pdf": 2, "mail": 10}


@pytest.mark.parametrize(
    ("seconds", "ahead"),
    [(0.0, MOST_WAITING), (0.0001, MOST_WAITING), (0.01, 20), (0.1, 2), (1.0, 0), (60.0, 0)],
)
def test_the_line_is_what_the_slots_get_through_in_a_moment(seconds: float, ahead: int) -> None:
    lane = Lane(10)
    lane.took(seconds)

    assert lane.ahead == ahead


def test_there_is_no_line_soon_after_a_crash() -> None:
    lane = Lane(10)
    lane.took(0.0001)
    lane.be_careful()

    assert (lane.ahead, lane.room) == (0, 10)


def test_a_claim_waits_until_it_is_worth_it_where_there_is_a_line() -> None:
    lane = Lane(10)
    lane.took(0.01)
    lane.busy = 10

    assert lane.room == 20
    lane.busy = 20  # half of the line is taken
    assert lane.room == 0


def test_no_more_is_claimed_than_the_budget_has() -> None:
    assert Slots({"a": 5, "b": 5}).room(at_most=7) == {"a": 5, "b": 2}
