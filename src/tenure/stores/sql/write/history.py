"""Lines of a job's history: runs that did not simply succeed, and operators' moves."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import NamedTuple

from tenure.core.failure import Failure
from tenure.core.rules.error_groups import group_of
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
    error_group: int | None = None

    @classmethod
    def of_failure(
        cls, number: int, fence: int, entry: str, failure: Failure, refunded: int = 0
    ) -> HistoryLine:
        """With the group that the failure belongs to, by which it can be searched."""
        group = group_of(failure.type, failure.message)
        return cls(number, fence, refunded, entry, None, failure.to_json(), group)


COLUMNS = ("id", "fence", "spent", "entry", "worker", "failure", "error_group")


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
    number, fence, refunded = int(item.lease.job_id), item.lease.fence, int(item.refund)
    if item.failure is None:
        return HistoryLine(number, fence, refunded, entry)
    return HistoryLine.of_failure(number, fence, entry, item.failure, refunded)
