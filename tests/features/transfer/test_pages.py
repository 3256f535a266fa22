"""Pages of rows in the order of the key, and two streams side by side."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.features.transfer import open_end
from tenure.features.transfer.merge import Checksum, pairs
from tenure.features.transfer.pages import FIRST_PAGE, LONGEST_PAGE, PAGE_BYTES, next_size, pages
from tenure.stores.sql.tables import Table, known_tables

KEYS = next(table for table in known_tables() if table.name == "tenure_keys")
NAMES = ["", " ", "a", "a ", "B", "b", "ß", "z", "é", "漢", "👩"]


def key_rows(count: int) -> list[tuple[object, ...]]:
    """Names that many databases would sort, or take for the same, by rules of their own."""
    random = Random(5)
    keys = {tuple(random.choice(NAMES) for _ in range(3)) for _ in range(count)}
    return [(*key, "hash", place, place) for place, key in enumerate(sorted(keys))]


def test_pages_have_every_row_once_in_the_order_of_code_points(database_url: str) -> None:
    rows = key_rows(2_000)
    with open_end(database_url) as end, end.writing():
        end.ways.insert(end.connection, KEYS, Random(1).sample(rows, len(rows)))
        found = list(pages(end, KEYS))

    assert [row for page in found for row in page] == rows
    assert [len(page) for page in found[:2]] == [FIRST_PAGE, 4 * FIRST_PAGE]


def test_rows_are_removed_by_their_keys(database_url: str) -> None:
    rows = key_rows(200)
    with open_end(database_url) as end, end.writing():
        end.ways.insert(end.connection, KEYS, rows)
        end.ways.delete(end.connection, KEYS, [KEYS.key_of(row) for row in rows[::2]])
        found = [row for page in pages(end, KEYS) for row in page]

    assert found == rows[1::2]


@pytest.mark.parametrize(
    ("size", "bytes_a_row", "expected"),
    [(50, 8, 200), (4_000, 8, LONGEST_PAGE), (50, 1_000_000, 3), (4, 2 * PAGE_BYTES, 1)],
)
def test_a_page_is_as_long_as_its_rows_are_short(
    size: int, bytes_a_row: int, expected: int
) -> None:
    assert next_size(size, [("x" * bytes_a_row,)]) == expected


@given(st.sets(st.integers()), st.sets(st.integers()))
def test_rows_of_one_key_meet(left: set[int], right: set[int]) -> None:
    found = list(pairs(rows_of(left), rows_of(right), TABLE.key_of))

    assert [one or other for one, other in found] == sorted((n, n) for n in left | right)
    assert {one[0] for one, other in found if one and other} == left & right


TABLE = Table("t", ("a", "b"), ("a",))


def rows_of(numbers: set[int]) -> Iterator[tuple[int, int]]:
    return iter([(number, number) for number in sorted(numbers)])


def test_a_checksum_tells_every_difference() -> None:
    rows: list[tuple[object, ...]] = [
        (1, None), (1, ""), (1, "None"), (1, 0), (1, 0.0), (1, "0"), (1, 0.3), (1, 0.1 + 0.2)
    ]  # fmt: skip
    digests = set()
    for row in rows:
        checksum = Checksum()
        checksum.add(row)
        digests.add(checksum.digest)

    assert len(digests) == len(rows)
