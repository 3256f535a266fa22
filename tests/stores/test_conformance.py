"""The store suite, on every database and with both clocks."""

from __future__ import annotations

from tenure.testing.conformance import kept_promises, suite

globals().update(suite())

LATER = {10}
ELSEWHERE = {12, 13}  # the benches; test_migrate.py: it takes more than one version of the code


def test_the_suite_judges_every_promise_that_a_store_makes() -> None:
    assert kept_promises() == set(range(1, 18)) - LATER - ELSEWHERE


def test_a_store_that_can_do_less_takes_a_smaller_suite() -> None:
    assert 0 < len(suite(capabilities=())) < len(suite())
