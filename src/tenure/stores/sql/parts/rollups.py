"""Counts by minute and groups of errors on a SQL database."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

from tenure.core.errors import OptionError
from tenure.core.page import Cursor, Page
from tenure.core.rules.rollups import KEPT, Line
from tenure.core.timing.clock import from_micros, seconds_to_micros, to_micros
from tenure.stores.contract.rollups import ErrorGroup, FailureCount, RollupFilter, Sums
from tenure.stores.sql.database import Database
from tenure.stores.sql.rows import LAST_ID
from tenure.stores.sql.statement import Batch, Plan, Row, Statement, one
from tenure.stores.sql.write.roll_up import SPANS, WORKERS

ROLLUP_COLUMNS = ("queue", "kind", "measure", "n")
GROUP_COLUMNS = (
    "whose", "kind", "error_group", "failures", "sample_job", "type", "message", "sample_message",
)  # fmt: skip
HOUR_COLUMNS = ("whose", "kind", "error_group", "failures")
GROUPS_KEPT = timedelta(days=90)
HOURS_KEPT = timedelta(days=8)
EVERYBODY = "*"


class GroupRow(NamedTuple):
    """A row of `page_error_groups`."""

    kind: str
    error_group: int
    failures: int
    first_at: int
    last_at: int
    sample_job: int
    type: str
    message: str
    sample_message: str


class SqlRollups:
    """See `tenure.stores.contract.rollups.RollupStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, lines: Sequence[Line]) -> None:
        """One statement for all of them."""
        if lines:
            rows = [(line.queue, line.kind, line.measure, line.n) for line in lines]
            values = {"spans": list(SPANS), "source": WORKERS}
            batch = Batch(ROLLUP_COLUMNS, rows)
            self._database.run(partial(one, Statement("add_rollups", values, batch)))

    def periods(self, span: int, since: datetime, where: RollupFilter) -> Mapping[datetime, Sums]:
        """Sums by period."""
        found: defaultdict[datetime, dict[int, int]] = defaultdict(dict)
        names = _names(where) or ("rolled_everything",)
        values = _values(span, since, where)
        for at, measure, n in self._database.read(Statement("read_rollups", values, where=names)):
            found[from_micros(at)][measure] = int(n)
        return found

    def sums(
        self, span: int, since: datetime, where: RollupFilter
    ) -> Mapping[tuple[str, str], Sums]:
        """Sums by queue and kind."""
        found: defaultdict[tuple[str, str], dict[int, int]] = defaultdict(dict)
        names = _names(where) or ("rolled_apart",)
        statement = Statement("sum_rollups", _values(span, since, where), where=names)
        for queue, kind, measure, n in self._database.read(statement):
            found[queue, kind][measure] = int(n)
        return found

    def add_failures(self, failures: Sequence[FailureCount]) -> None:
        """The groups of everybody and of each tenant, in one transaction."""
        if failures:
            self._database.run(partial(_add_failures, failures))

    def groups(
        self,
        since: datetime,
        limit: int,
        after: str | None = None,
        *,
        tenant: str | None = None,
        kinds: Sequence[str] | None = None,
    ) -> Page[ErrorGroup]:
        """The last seen first."""
        at, group = _position(after)
        values = {
            "whose": _whose(tenant), "since": to_micros(since), "limit": limit + 1,
            "after_at": at, "after_group": group, "kinds": list(kinds or ()),
        }  # fmt: skip
        where = ("kinds",) if kinds else ()
        rows = self._database.read(Statement("page_error_groups", values, where=where))
        found = [_group(GroupRow(*row)) for row in rows]
        shown = found[:limit]
        if len(found) <= limit:
            return Page(shown, None)
        return Page(shown, Cursor((to_micros(shown[-1].last_at), shown[-1].group)).encode())

    def hours(
        self, groups: Sequence[ErrorGroup], since: datetime, *, tenant: str | None = None
    ) -> Mapping[tuple[str, int], Mapping[datetime, int]]:
        """Failures by hour."""
        found: defaultdict[tuple[str, int], dict[datetime, int]] = defaultdict(dict)
        if groups:
            values = {
                "whose": _whose(tenant),
                "kinds": sorted({one.kind for one in groups}),
                "groups": sorted({one.group for one in groups}),
                "since": to_micros(since),
            }
            for kind, group, at, n in self._database.read(Statement("read_error_hours", values)):
                found[kind, group][from_micros(at)] = int(n)
        return found

    def prune(self, limit: int) -> None:
        """One bounded part of each table, in a transaction of its own."""
        statements = [
            Statement("prune_rollups", {"span": span, **_older(kept, limit)})
            for span, kept in KEPT.items()
        ]
        statements.append(Statement("prune_error_groups", _older(GROUPS_KEPT, limit)))
        statements.append(Statement("prune_error_hours", _older(HOURS_KEPT, limit)))
        for statement in statements:
            self._database.run(partial(one, statement))


def _older(kept: timedelta, limit: int) -> dict[str, int]:
    return {"age": seconds_to_micros(kept.total_seconds()), "limit": limit}


def _names(where: RollupFilter) -> tuple[str, ...]:
    """Without any, the rows that count everything together are read: there are few of them."""
    queues = ("rolled_queues",) if where.queues else ()
    return (*queues, "rolled_kinds") if where.kinds else queues


def _values(span: int, since: datetime, where: RollupFilter) -> dict[str, Any]:
    return {
        "span": span,
        "since": to_micros(since),
        "queues": list(where.queues or ()),
        "kinds": list(where.kinds or ()),
    }


def _add_failures(failures: Sequence[FailureCount]) -> Plan[None]:
    added: dict[tuple[str, str, int], Row] = {}
    for failure in failures:
        for whose in (EVERYBODY, _whose(failure.tenant)):
            key = (whose, failure.kind, failure.group)
            before = added[key][3] if key in added else 0
            added[key] = (
                *key, before + failure.failures, int(failure.sample_job), failure.type,
                failure.message, failure.sample_message,
            )  # fmt: skip
    rows = [added[key] for key in sorted(added)]
    yield Statement("add_error_groups", batch=Batch(GROUP_COLUMNS, rows))
    hours = [(whose, kind, group, n) for whose, kind, group, n, *_ in rows]
    yield Statement("add_error_hours", batch=Batch(HOUR_COLUMNS, hours))


def _whose(tenant: str | None) -> str:
    """Everybody's groups have rows of their own, so that no list has to add up tenants."""
    return EVERYBODY if tenant is None else f"={tenant}"


def _group(row: GroupRow) -> ErrorGroup:
    return ErrorGroup(
        kind=row.kind,
        group=row.error_group,
        failures=row.failures,
        first_at=from_micros(row.first_at),
        last_at=from_micros(row.last_at),
        sample_job=str(row.sample_job),
        type=row.type,
        message=row.message,
        sample_message=row.sample_message,
    )


def _position(after: str | None) -> tuple[int, int]:
    if after is None:
        return LAST_ID, LAST_ID
    match Cursor.decode(after).position:
        case (int() as at, int() as group) if 0 < at <= LAST_ID and 0 <= group <= LAST_ID:
            return at, group
        case _:
            raise OptionError(f"{after!r} is not a cursor of this list")
