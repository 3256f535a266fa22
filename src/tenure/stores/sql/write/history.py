"""Lines of a job's history: runs that did not simply succeed, and operators' moves."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import NamedTuple

from tenure.core.settlement import Settlement
from tenure.stores.sql.statement import Batch, Plan, Statement


class HistoryLine(NamedTuple):
    """`refunded` is 1 if the attempt on the row has been given back already."""

    id: int
    fence: int
    refunded: int
    entry: str
    worker: str | None = None
    failure: str | None = None


COLUMNS = ("id", "fence", "spent", "entry", "worker", "failure")


def write_history(lines: Sequence[HistoryLine]) -> Plan[None]:
    """Append these lines."""
    if lines:
        yield Statement("add_history", batch=Batch(COLUMNS, lines))


def write_endings(settlements: Sequence[Settlement], applied: Container[int]) -> Plan[None]:
    """The lines of those settlements that were applied and have an entry."""
    lines = [_line(item, item.entry) for item in settlements if item.entry]
    if lines:
        yield from write_history([line for line in lines if line.id in applied])


def _line(item: Settlement, entry: str) -> HistoryLine:
    failure = None if item.failure is None else item.failure.to_json()
    return HistoryLine(
        int(item.lease.job_id), item.lease.fence, int(item.refund), entry, None, failure
    )
