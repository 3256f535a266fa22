"""What a handler returns or raises, as an ending."""

from __future__ import annotations

import json
import pickle
import threading

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


class _Busy(Snooze):
    """As a user may write one: not to be made again from its message, nor to be pickled."""

    def __init__(self) -> None:
        super().__init__(7, "busy")
        self.lock = threading.Lock()


@pytest.mark.parametrize(
    "outcome",
    [Retry("x", delay=3), Fail("x", code="c"), Snooze(5), Snooze(5, "x"), Skip("x"), _Busy()],
)
def test_an_outcome_travels_from_process_to_process(outcome: Outcome) -> None:
    outcome.__cause__ = ValueError("the cause")

    there = pickle.loads(pickle.dumps(outcome))  # noqa: S301

    assert isinstance(
        there, next(kind for kind in (Retry, Fail, Snooze, Skip) if isinstance(outcome, kind))
    )
    assert there.failure == outcome.failure
    for name in ("message", "code", "delay", "seconds"):
        assert getattr(there, name, None) == getattr(outcome, name, None)
