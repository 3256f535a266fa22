"""Reads a page of jobs, newest first, at a cost that does not depend on the table's size."""

from __future__ import annotations

from collections.abc import Callable

from tenure.core.errors import OptionError
from tenure.core.filter import JobFilter
from tenure.core.job import Job
from tenure.core.page import Cursor, Page
from tenure.stores.sql.read.conditions import conditions
from tenure.stores.sql.read.job_rows import job
from tenure.stores.sql.read.walk import SLOW, Walk, open_only, walk_of
from tenure.stores.sql.rows import LAST_ID
from tenure.stores.sql.statement import Rows, Statement

# Ids that are walked over before the indexes of open jobs are used instead.
NEAR = 5_000
Read = Callable[[Statement], Rows]


def read_page(read: Read, where: JobFilter, limit: int, after: str | None) -> Page[Job]:
    """One row more than asked for tells whether there is a next page."""
    base = walk_of(where)
    if base is not None:
        return _searched(read, where, limit, base, _position(after))
    found = _find(read, where, limit + 1, _position(after))
    shown = [job(row) for row in found[:limit]]
    return Page(shown, _cursor(int(shown[-1].id)) if len(found) > limit else None)


def _searched(
    read: Read, where: JobFilter, limit: int, base: tuple[str, ...], after: int
) -> Page[Job]:
    """No index has the answer: walk over so many rows, and say so. The next page goes on there."""
    names, values = conditions(where)
    walk = Walk(read, base, values, after, slow=bool(SLOW & set(names)))
    found: Rows = []
    while len(found) <= limit and walk.on():
        asked = {**values, **walk.bounds, "limit": limit + 1 - len(found)}
        found += read(Statement("page_jobs", asked, where=(*names, "edge")))
    shown = [job(row) for row in found[:limit]]
    if len(found) > limit:
        return Page(shown, _cursor(int(shown[-1].id)), walk.walked)
    return Page(shown, None if walk.over else _cursor(walk.edge), walk.walked, walk.over)


def _find(read: Read, where: JobFilter, limit: int, after: int) -> Rows:
    """By id, backwards. Open jobs are mostly the newest. If the nearest ids do not fill the page,
    their own indexes are read: otherwise the walk would pass over all jobs that have ended.
    """
    names, values = conditions(where)
    values.update(after=after, limit=limit)
    if not open_only(where):
        return read(Statement("page_jobs", values, where=names))
    found = read(Statement("page_jobs", {**values, "near": NEAR}, where=(*names, "near")))
    if len(found) < limit:
        found = read(Statement("page_open_jobs", values, where=names))
    return found


def _cursor(number: int) -> str:
    return Cursor((number,)).encode()


def _position(after: str | None) -> int:
    if after is None:
        return LAST_ID
    match Cursor.decode(after).position:
        case (int() as last,) if 0 < last <= LAST_ID:
            return last
        case _:
            raise OptionError(f"{after!r} is not a cursor of this list")
