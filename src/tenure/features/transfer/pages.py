"""The rows of a table in the order of its key, a page at a time: bounded memory on any database."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tenure.features.transfer.end import End
from tenure.stores.sql.statement import Row, Rows
from tenure.stores.sql.tables import Table

Watch = Callable[[int], None]
FIRST_PAGE = 50
LONGEST_PAGE = 5_000
PAGE_BYTES = 4_000_000


def pages(end: End, table: Table) -> Iterator[Rows]:
    """Some rows at first; then as many as make a few megabytes."""
    key_of, size = table.key_of, FIRST_PAGE
    page = _page(end, table, None, size)
    while page:
        yield page
        size = next_size(size, page)
        page = _page(end, table, key_of(page[-1]), size)


def rows(end: End, table: Table, watch: Watch | None = None) -> Iterator[Row]:
    """One by one; `watch` is told of every page that was used up."""
    for page in pages(end, table):
        yield from page
        if watch is not None:
            watch(len(page))


def next_size(size: int, page: Sequence[Row]) -> int:
    """Grows fourfold at most: a table may begin with its small rows."""
    weight = max(1, sum(map(row_bytes, page)) // len(page))
    return max(1, min(LONGEST_PAGE, size * 4, PAGE_BYTES // weight))


def row_bytes(row: Row) -> int:
    """About how much of memory and of a statement it takes."""
    return 8 * len(row) + sum([len(value) for value in row if type(value) is str])


def _page(end: End, table: Table, after: Row | None, size: int) -> Rows:
    """What follows a key: first what shares most of it. Each statement is one range of the key's
    index: an equal prefix and one lower bound. A comparison of whole keys is none on MySQL.
    """
    if after is None:
        return end.select(_sql(table, 0, bounded=False), {"size": size})
    found: Rows = []
    values: dict[str, Any] = {f"k{position}": value for position, value in enumerate(after)}
    for same in range(len(after) - 1, -1, -1):
        if len(found) < size:
            found += end.select(_sql(table, same, bounded=True), _values(values, same, size, found))
    return found


def _values(values: dict[str, Any], same: int, size: int, found: Rows) -> dict[str, Any]:
    used = {f"k{position}": values[f"k{position}"] for position in range(same + 1)}
    return {**used, "size": size - len(found)}


def _sql(table: Table, same: int, *, bounded: bool) -> str:
    """`same` columns of the key are equal, the next one is greater."""
    terms = [f"{column} = :k{position}" for position, column in enumerate(table.key[:same])]
    if bounded:
        terms.append(f"{table.key[same]} > :k{same}")
    where = f" WHERE {' AND '.join(terms)}" if terms else ""
    return (
        f"SELECT {', '.join(table.columns)} FROM {table.name}{where} "  # noqa: S608 - names of ours
        f"ORDER BY {', '.join(table.key)} LIMIT :size"
    )
