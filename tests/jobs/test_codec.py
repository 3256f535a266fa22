"""What cannot be stored is refused at the caller, with what to do."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from tenure.core.errors import PayloadError
from tenure.jobs.codec import decode, encode

DEEP: list[Any] = []
for _ in range(100_000):
    DEEP = [DEEP]

BAD: list[tuple[Any, str]] = [
    (float("nan"), "NaN"),
    (float("inf"), "NaN"),
    ({"x": float("-inf")}, "NaN"),
    ("\ud800", "surrogate"),
    ({"k\udfff": 1}, "surrogate"),
    (object(), "not JSON"),
    ({1, 2}, "not JSON"),
    (b"bytes", "not JSON"),
    (datetime.now(UTC), "not JSON"),
    ({(1, 2): 3}, "not JSON"),
    (DEEP, "nested"),
    ("x" * 2000, "2,002 bytes"),
]


@pytest.mark.parametrize(("value", "problem"), BAD, ids=[problem for _, problem in BAD])
def test_what_is_not_json_is_refused_by_name(value: Any, problem: str) -> None:
    with pytest.raises(PayloadError, match=problem):
        encode(value, limit=1024)


def test_equal_payloads_are_equal_texts() -> None:
    assert encode({"b": 1, "a": 2}, 100) == encode({"a": 2, "b": 1}, 100) == '{"a":2,"b":1}'


def test_text_survives_the_round_trip() -> None:
    value = {"name": "Grüße \U0001f600 \x00 \n", "n": [1, 2.5, None, True]}

    assert decode(encode(value, 1024)) == value


def test_the_limit_counts_bytes_not_characters() -> None:
    assert encode("ü" * 10, limit=22) == '"' + "ü" * 10 + '"'
    with pytest.raises(PayloadError, match="TENURE_PAYLOAD_LIMIT_BYTES"):
        encode("ü" * 10, limit=21)
