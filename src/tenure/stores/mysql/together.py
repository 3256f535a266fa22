"""One SELECT for many rows of a batch: a round trip for each of hundreds of keys would be slow.

The server has no LATERAL (MariaDB) and plans a range for constants alone. So the statement is
written once for each row, with its values, and the parts are joined by UNION ALL.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from pymysql.cursors import Cursor

from tenure.stores.sql.statement import Row, Rows

PARAMETER = re.compile(r"%\((\w+)\)s")
# The server plans each part by itself, and parses long statements slowly.
PARTS_AT_ONCE = 64


def select_together(cursor: Cursor, step: str, values: Sequence[Mapping[str, Any]]) -> Rows:
    """The rows that the step finds for each of these values."""
    found: Rows = []
    names = set(PARAMETER.findall(step))  # the driver quotes all it is given, used or not
    remaining = ({name: one[name] for name in names} for one in values)
    while part := list(islice(remaining, PARTS_AT_ONCE)):
        texts = [f"({cursor.mogrify(step, one)})" for one in part]
        cursor.execute("\nUNION ALL\n".join(texts))
        found += cursor.fetchall()
    return found


def select_again(
    cursor: Cursor, step: str, values: Mapping[str, Any], found: Rows
) -> Iterator[Row]:
    """From row to row, for all at once: the columns of the last ones are parameters of the step.

    A row that says that there are no `more` is the last of its own.
    """
    described: Sequence[Sequence[Any]] = cursor.description or ()
    names = [str(name) for name, *_ in described]
    last = found
    for _ in range(1, int(values["lanes"])):
        places = [dict(zip(names, row, strict=True)) for row in last]
        going_on = [{**values, **place} for place in places if place.get("more", True)]
        if not going_on:
            return
        last = select_together(cursor, step, going_on)
        yield from last
