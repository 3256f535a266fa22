"""How much a worker claims: its slots, and a short line before those of fast handlers."""

from __future__ import annotations

import pytest

from tenure import OptionError
from tenure.worker.running.slots import MOST_WAITING, Lane, Slots


def test_a_queue_needs_a_slot() -> None:
    with pytest.raises(OptionError, match="at least one slot"):
        Slots({"pdf": 0})


def test_an_unknown_queue_gets_its_slots_and_no_line() -> None:
    assert Slots({"pdf": 2, "mail": 10}).room() == {"pdf": 2, "mail": 10}


@pytest.mark.parametrize(
    ("seconds", "ahead"),
    [(0.0, MOST_WAITING), (0.0001, MOST_WAITING), (0.01, 20), (0.1, 2), (1.0, 1), (60.0, 1)],
)
def test_the_line_is_what_the_slots_get_through_in_a_moment(seconds: float, ahead: int) -> None:
    lane = Lane(10)
    lane.took(seconds)

    assert lane.ahead == ahead


def test_slots_that_slow_handlers_keep_do_not_move_the_line() -> None:
    lane = Lane(10)
    lane.took(0.01)
    lane.stuck = 9
    assert lane.ahead == 2

    lane.stuck = 10
    assert lane.ahead == 0


def test_a_queue_whose_handlers_differ_widely_claims_little_ahead() -> None:
    lane = Lane(20)
    for _ in range(100):
        lane.took(0.001)
        lane.took(0.2)
    lane.took(0.001)

    assert lane.ahead <= 3


def test_one_slow_handler_among_a_thousand_is_soon_forgotten() -> None:
    lane = Lane(20)
    lane.took(0.2)
    for _ in range(200):
        lane.took(0.0001)

    assert lane.ahead == MOST_WAITING


@pytest.mark.parametrize(("prefetch", "ahead"), [(0, 0), (7, 7), (None, MOST_WAITING)])
def test_the_options_of_a_queue_say_how_much_may_be_claimed_ahead(
    prefetch: int | None, ahead: int
) -> None:
    lane = Lane(10)
    lane.took(0.0001)
    lane.prefetch = prefetch

    assert lane.ahead == ahead


def test_a_queue_with_a_rate_claims_nothing_ahead() -> None:
    lane = Lane(10)
    lane.took(0.0001)
    lane.rated = True

    assert (lane.ahead, lane.room) == (0, 10)


def test_more_than_can_begin_at_once_is_reserved() -> None:
    slots = Slots({"quick": 10, "slow": 10})
    slots.lanes["quick"].took(0.01)

    room = slots.room()

    assert room == {"quick": 30, "slow": 10}
    assert slots.reserving(room) == ["quick"]


def test_a_claim_waits_until_it_is_worth_it_where_there_is_a_line() -> None:
    lane = Lane(10)
    lane.took(0.01)
    lane.busy = 10

    assert lane.room == 20
    lane.busy = 20  # half of the line is taken
    assert lane.room == 0


def test_no_more_is_claimed_than_the_budget_has() -> None:
    assert Slots({"a": 5, "b": 5}).room(at_most=7) == {"a": 5, "b": 2}
