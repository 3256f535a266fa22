"""What a worker remembers of leases that ran out: a bounded look now, a whole one now and then."""

from __future__ import annotations

from tenure.stores.sql.claim.sweep_timer import (
    LONG_AGO,
    MARGIN_SECONDS,
    WHOLE_LOOK_EVERY,
    SweepTimer,
)


def quiet_timer(at: float = 100.0) -> SweepTimer:
    timer = SweepTimer()
    timer.looked_back(at, quiet=True)
    return timer


def test_the_first_look_is_a_whole_one() -> None:
    assert SweepTimer().back(0.0) == LONG_AGO


def test_after_a_quiet_look_only_what_ran_out_since_is_looked_for() -> None:
    assert quiet_timer().back(101.0) == 1.0 + MARGIN_SECONDS


def test_a_look_that_found_something_is_followed_by_a_whole_one() -> None:
    timer = quiet_timer()
    timer.looked_back(101.0, quiet=False)

    assert timer.back(102.0) == LONG_AGO


def test_a_whole_look_comes_twice_a_minute_however_quiet_it_is() -> None:
    timer = quiet_timer()
    for second in range(101, 100 + int(WHOLE_LOOK_EVERY)):
        assert timer.back(second) < LONG_AGO
        timer.looked_back(second, quiet=True)

    assert timer.back(100 + WHOLE_LOOK_EVERY) == LONG_AGO


def test_operators_moves_make_it_forget() -> None:
    timer = quiet_timer()
    timer.forget()

    assert timer.back(101.0) == LONG_AGO
