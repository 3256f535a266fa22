"""Cursors are opaque, and only what was given out comes back in."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.core.errors import OptionError
from tenure.core.page import Cursor

PARTS = st.integers() | st.text()


@given(st.lists(PARTS, max_size=5))
def test_a_cursor_comes_back_as_it_was(parts: list[int | str]) -> None:
    cursor = Cursor(tuple(parts))

    assert Cursor.decode(cursor.encode()) == cursor


@given(st.lists(PARTS, max_size=5))
def test_a_cursor_fits_into_an_address(parts: list[int | str]) -> None:
    text = Cursor(tuple(parts)).encode()

    assert all(letter.isascii() and (letter.isalnum() or letter in "-_") for letter in text)


@given(st.text())
def test_other_text_is_a_cursor_or_the_callers_error(text: str) -> None:
    try:
        found = Cursor.decode(text)
    except OptionError:
        return
    assert isinstance(found.position, tuple)


@pytest.mark.parametrize("value", [{}, None, 1, "x", [1.5], [True], [None], [[1]], [{}]])
def test_other_json_is_not_a_cursor(value: object) -> None:
    text = base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    with pytest.raises(OptionError, match="not a cursor"):
        Cursor.decode(text)


def test_a_deep_or_long_text_is_refused_and_not_repeated() -> None:
    for raw in (b"[" * 100_000, b"[" + b"9" * 10_000 + b"]"):
        with pytest.raises(OptionError) as refused:
            Cursor.decode(base64.urlsafe_b64encode(raw).decode())
        assert len(str(refused.value)) < 200
