"""What a handler returns or raises, as an ending."""

from __future__ import annotations

import json

import pytest

from tenure.core.outcome import Done, Fail, Outcome, Retry, Skip, Snooze, as_ending


def test_a_plain_value_is_a_result() -> None:
    assert as_ending({"a": 1}, json.dumps) == Done('{"a": 1}')
    assert as_ending(0, json.dumps) == Done("0")


def test_none_is_no_result() -> None:
    assert as_ending(None, json.dumps) == Done(None)


@pytest.mark.parametrize("outcome", [Retry("x"), Fail("x"), Snooze(5), Skip()])
def test_an_outcome_is_an_ending_whether_returned_or_raised(outcome: Outcome) -> None:
    assert as_ending(outcome, json.dumps) is outcome
    with pytest.raises(Outcome):
        raise outcome


def test_an_outcome_describes_itself() -> None:
    failure = Fail("no such invoice", code="no_invoice").failure

    assert (failure.type, failure.message, failure.code) == (
        "Fail",
        "no such invoice",
        "no_invoice",
    )
    assert failure.traceback is None


def test_an_outcome_describes_its_cause() -> None:
    try:
        try:
            raise KeyError("k")
        except KeyError as error:
            raise Retry("later") from error
    except Retry as outcome:
        failure = outcome.failure

    assert (failure.type, failure.message) == ("KeyError", "later")
    assert failure.traceback is not None
