"""The store suite, on every database and with both clocks."""

from __future__ import annotations

from tenure.testing.conformance import kept_promises, suite

globals().update(suite())

LATER = {10}
ELSEWHERE = {12, 13}  # the benches; test_migrate.py: it takes more than one version of the code


def test_the_suite_judges_every_promise_that_a_store_makes() -> None:
    assert kept_promises() == {*range(1, 18), 20, 21} - LATER - ELSEWHERE


def test_a_store_that_can_do_less_skips_what_it_cannot_do_and_says_why() -> None:
    whole, small = suite(), suite(capabilities=())
    left_out = {name for name in whole if small[name] is not whole[name]}

    assert whole.keys() == small.keys()
    assert 0 < len(left_out) < len(whole)
    [mark] = small["test_a_paused_queue_is_not_claimed_from"].pytestmark  # type: ignore[attr-defined]
    assert mark.kwargs == {"reason": "the store does not support pause"}
