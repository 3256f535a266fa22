"""What a worker remembers of leases that ran out: a bounded look now, a whole one now and then."""

from __future__ import annotations

from tenure.stores.sql.lookout import LONG_AGO, MARGIN_SECONDS, WHOLE_LOOK_EVERY, Lookout


def quiet_lookout(*queues: str, at: float = 100.0) -> Lookout:
    lookout = Lookout()
    lookout.looked_back(at, queues, quiet=True)
    return lookout


def test_the_first_look_is_a_whole_one() -> None:
    assert Lookout().back(0.0, ["a"]) == LONG_AGO


def test_after_a_quiet_look_only_what_ran_out_since_is_looked_for() -> None:
    assert quiet_lookout("a", "b").back(101.0, ["a"]) == 1.0 + MARGIN_SECONDS


def test_a_queue_that_was_full_then_needs_a_whole_look() -> None:
    assert quiet_lookout("a").back(101.0, ["a", "b"]) == LONG_AGO


def test_a_queue_that_was_left_out_of_a_later_look_needs_a_whole_one() -> None:
    lookout = quiet_lookout("a", "b")
    lookout.looked_back(110.0, ["a"], quiet=True)

    assert lookout.back(111.0, ["a"]) == 1.0 + MARGIN_SECONDS
    assert lookout.back(111.0, ["a", "b"]) == LONG_AGO


def test_a_look_that_found_something_is_followed_by_a_whole_one() -> None:
    lookout = quiet_lookout("a")
    lookout.looked_back(101.0, ["a"], quiet=False)

    assert lookout.back(102.0, ["a"]) == LONG_AGO


def test_a_whole_look_comes_twice_a_minute_however_quiet_it_is() -> None:
    lookout = quiet_lookout("a")
    for second in range(101, 100 + int(WHOLE_LOOK_EVERY)):
        assert lookout.back(second, ["a"]) < LONG_AGO
        lookout.looked_back(second, ["a"], quiet=True)

    assert lookout.back(100 + WHOLE_LOOK_EVERY, ["a"]) == LONG_AGO


def test_operators_moves_make_it_forget() -> None:
    lookout = quiet_lookout("a")
    lookout.forget()

    assert lookout.back(101.0, ["a"]) == LONG_AGO
