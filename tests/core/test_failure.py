"""An error as data: nothing grows without bound, everything can be stored."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from tenure.core.failure import MESSAGE_LIMIT, TRACEBACK_LIMIT, Failure


class Coded(Exception):
    code = "no_invoice"


class OddlyCoded(Exception):
    code = 404


def raised(error: Exception) -> Failure:
    try:
        raise error
    except Exception as caught:
        return Failure.of(caught)


def dive(depth: int) -> None:
    if depth == 0:
        raise ValueError("x" * 10_000)
    dive(depth - 1)


def test_a_failure_tells_type_message_and_where() -> None:
    failure = raised(ValueError("boom"))

    assert (failure.type, failure.message, failure.code) == ("ValueError", "boom", None)
    assert failure.traceback is not None
    assert "in raised" in failure.traceback


def test_a_code_is_kept_where_it_is_a_word() -> None:
    assert raised(Coded()).code == "no_invoice"
    assert raised(OddlyCoded()).code is None


def test_message_and_traceback_are_capped() -> None:
    try:
        dive(150)
    except ValueError as error:
        failure = Failure.of(error)

    assert len(failure.message) == MESSAGE_LIMIT
    assert failure.traceback is not None
    assert TRACEBACK_LIMIT <= len(failure.traceback) <= TRACEBACK_LIMIT + 2
    assert failure.traceback.startswith("… ")


@given(st.text(st.characters(codec=None)))
def test_whatever_was_raised_can_be_stored(text: str) -> None:
    failure = raised(ValueError(text))

    assert "\x00" not in failure.message
    failure.message.encode()
    assert json.loads(failure.to_json()) == failure.to_dict()
