"""One canonical text, whichever encoder wrote it: unique keys compare payloads by it."""

from __future__ import annotations

import dataclasses
import enum
import uuid
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tenure.core.errors import PayloadError
from tenure.jobs import canonical_json as canonical
from tenure.jobs.canonical_json import CANONICAL, by_json, by_orjson
from tenure.jobs.codec import encode

PADDING = "x" * canonical.WORTH_BYTES


class Colour(enum.StrEnum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Plain(enum.Enum):
    ONE = 1


class Name(str):
    pass


class Table(dict[str, int]):
    pass


@dataclasses.dataclass
class Point:
    x: int


numbers = st.one_of(
    st.integers(),
    st.integers(min_value=2**62, max_value=2**70),
    st.floats(),
    st.sampled_from([-0.0, 1e22, 1e16, 9999999999999998.0, 1e-5, 1e-4, 5e-324, 1.5e300]),
)
scalars = st.one_of(
    st.none(), st.booleans(), numbers, st.text(st.characters()), st.sampled_from(["1e5", "\x7f"])
)
keys = st.one_of(st.text(), st.integers(), st.sampled_from([Name("n"), Colour.RED]))
odd = st.sampled_from([Colour.RED, Level.HIGH, Name("x"), Table(a=1), (1, 2)])
values = st.recursive(
    scalars | odd,
    lambda inner: st.lists(inner) | st.dictionaries(keys, inner) | st.tuples(inner, inner),
    max_leaves=20,
)


def expected(value: Any) -> bytes | None:
    try:
        return CANONICAL.encode(value).encode()
    except (ValueError, TypeError):
        return None


@given(values)
@example(float("nan"))
@example([float("inf")])
@example("\ud800")
@example({"\udfff": 1})
@example({2: "b", 10: "a"})
@example({2: "b", "a": 1})
@example({"é": 1, "z": 2, "\U0001f600": 3, "\uffff": 4})
def test_both_encoders_write_the_same_text_or_refuse_alike(value: Any) -> None:
    for wrapped in (value, [value, PADDING], {PADDING: value}):
        assert by_json(wrapped) == by_orjson(wrapped) == expected(wrapped)


@pytest.mark.parametrize(
    "value",
    [
        uuid.uuid4(),
        Plain.ONE,
        Point(1),
        datetime.now(UTC),
        datetime.now(UTC).date(),
        b"bytes",
        float("nan"),
        orjson.Fragment(b"1"),
    ],
)
def test_what_is_more_than_json_is_refused_at_any_size(value: Any) -> None:
    for wrapped in (value, [value], {"a": value, "b": PADDING}):
        with pytest.raises(PayloadError, match="not JSON"):
            encode(wrapped, limit=10_000)


def test_much_of_it_is_written_by_orjson_and_the_same() -> None:
    value = {"items": [{"id": n, "price": n / 8, "name": "ü"} for n in range(100)]}

    assert by_orjson(value) == by_json(value)
    assert encode(value, 100_000) == CANONICAL.encode(value)


def test_a_circle_is_named() -> None:
    circle: list[Any] = []
    circle.append(circle)

    with pytest.raises(PayloadError, match="Circular"):
        encode(circle, limit=1024)
