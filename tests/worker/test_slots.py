"""How much a worker claims: its slots, and a short line before those of fast handlers."""

from __future__ import annotations

import pytest

from tenure import OptionError
from tenure.worker.running.slots import MOST_WAITING, QueueLine, Slots


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
    line = QueueLine(10)
    line.took(seconds)

    assert line.ahead == ahead


def test_slots_that_slow_handlers_keep_do_not_move_the_line() -> None:
    line = QueueLine(10)
    line.took(0.01)
    line.stuck = 9
    assert line.ahead == 2

    line.stuck = 10
    assert line.ahead == 0


def test_a_queue_whose_handlers_differ_widely_claims_little_ahead() -> None:
    line = QueueLine(20)
    for _ in range(100):
        line.took(0.001)
        line.took(0.2)
    line.took(0.001)

    assert line.ahead <= 3


def test_one_slow_handler_among_a_thousand_is_soon_forgotten() -> None:
    line = QueueLine(20)
    line.took(0.2)
    for _ in range(200):
        line.took(0.0001)

    assert line.ahead == MOST_WAITING


@pytest.mark.parametrize(("prefetch", "ahead"), [(0, 0), (7, 7), (None, MOST_WAITING)])
def test_the_options_of_a_queue_say_how_much_may_be_claimed_ahead(
    prefetch: int | None, ahead: int
) -> None:
    line = QueueLine(10)
    line.took(0.0001)
    line.prefetch = prefetch

    assert line.ahead == ahead


def test_a_queue_with_a_rate_claims_nothing_ahead() -> None:
    line = QueueLine(10)
    line.took(0.0001)
    line.rated = True

    assert (line.ahead, line.room) == (0, 10)


def test_more_than_can_begin_at_once_is_reserved() -> None:
    slots = Slots({"quick": 10, "slow": 10})
    slots.lines["quick"].took(0.01)

    room = slots.room()

    assert room == {"quick": 30, "slow": 10}
    assert slots.reserving(room) == ["quick"]


def test_a_claim_waits_until_it_is_worth_it_where_there_is_a_line() -> None:
    line = QueueLine(10)
    line.took(0.01)
    line.busy = 10

    assert line.room == 20
    line.busy = 20  # half of the line is taken
    assert line.room == 0


def test_no_more_is_claimed_than_the_budget_has() -> None:
    assert Slots({"a": 5, "b": 5}).room(at_most=7) == {"a": 5, "b": 2}
