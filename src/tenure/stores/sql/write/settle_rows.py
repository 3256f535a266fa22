"""Endings that are more than a plain success: one row each, with a result, a delay or a reason."""

from __future__ import annotations

from collections.abc import Sequence

from tenure.core.settlement import Settlement
from tenure.stores.sql import rows
from tenure.stores.sql.statement import Batch, Plan, Statement, chunks


def settle_rows(
    settlements: Sequence[Settlement], applied: set[int], *, tied: int, patience: float | None
) -> Plan[None]:
    """Any endings, one row each. `tied` 0 writes only rows that nobody waits for."""
    values, where = without_waiting(patience)
    ordered = sorted(settlements, key=number_of)  # in id order: no deadlocks
    for part in chunks(ordered, key=lambda item: len(item.result or "")):
        batch = Batch(rows.SETTLE_COLUMNS, [rows.settlement(item) for item in part])
        done = yield Statement("settle_jobs", {"tied": tied, **values}, batch, where)
        applied.update([number for (number,) in done])


def without_waiting(seconds: float | None) -> tuple[dict[str, str], tuple[str, ...]]:
    """Value and condition that keep a statement from waiting for locks."""
    if seconds is None:
        return {}, ()
    return {"patience": f"{max(1, round(seconds * 1000))}ms"}, ("now",)


def number_of(item: Settlement) -> int:
    """The row of the job that it ends."""
    return int(item.lease.job_id)
