"""What a holder writes while its jobs run: longer leases, progress, log lines, the start."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tenure.core.lease import Lease, Standing
from tenure.core.timing.clock import seconds_to_micros, to_micros
from tenure.stores.contract import Extension, Report
from tenure.stores.sql.statement import Batch, Plan, Row, Statement
from tenure.stores.sql.write.locked_rows import LEASE_COLUMNS, still_held

PROGRESS_COLUMNS = ("id", "fence", "progress", "note")
BEGUN_COLUMNS = ("id", "fence", "ago", "standing")
LOG_COLUMNS = ("id", "fence", "at", "level", "message")


def extend(leases: Sequence[Lease], seconds: float) -> Plan[Extension]:
    """Prolong what is still held under its fence; the rest is lost."""
    if not leases:
        return Extension()
    asked = sorted((int(lease.job_id), lease.fence) for lease in leases)
    held = yield Statement(
        "extend_leases", {"lease": seconds_to_micros(seconds)}, Batch(LEASE_COLUMNS, asked)
    )
    known = {str(number) for number, _ in held}
    lost = frozenset(lease.job_id for lease in leases) - known
    return Extension(lost, frozenset(str(number) for number, cancel in held if cancel))


def report(reports: Sequence[Report]) -> Plan[frozenset[str]]:
    """Write progress and log lines of jobs that are still held; answers the ids of the others.

    A row that is locked at this moment is skipped: its lease holds, but this progress is lost.
    """
    refused = yield from _mark_begun([item for item in reports if item.begun_ago is not None])
    reports = [item for item in reports if item.begun_ago is None]
    return refused | (yield from _write_progress(reports)) if reports else refused


def _write_progress(reports: Sequence[Report]) -> Plan[frozenset[str]]:
    in_order = sorted(reports, key=_number)
    lines = [(_number(r), r.lease.fence, r.progress, r.note) for r in in_order]
    told = yield Statement("report_progress", batch=Batch(PROGRESS_COLUMNS, lines))
    written = {number for (number,) in told}
    left = [item.lease for item in in_order if _number(item) not in written]
    held = yield from still_held(left)
    # Lines are rows of their own: one of a job whose row is locked need not be lost.
    ours = written | held
    logs = [line for item in reports if _number(item) in ours for line in _log_rows(item)]
    if logs:
        yield Statement("add_logs", batch=Batch(LOG_COLUMNS, logs))
    return frozenset(lease.job_id for lease in left if int(lease.job_id) not in held)


def _mark_begun(reports: Sequence[Report]) -> Plan[frozenset[str]]:
    """Jobs that were claimed ahead and run now, or suspects that run alone. Answers the ids of
    those for which that could not be written.
    """
    if not reports:
        return frozenset()
    begun = sorted(map(_begun_row, reports))
    done = yield Statement("mark_begun", batch=Batch(BEGUN_COLUMNS, begun))
    return frozenset(item.lease.job_id for item in reports) - {str(number) for (number,) in done}


def _begun_row(item: Report) -> Row:
    standing = Standing.ALONE if item.alone else Standing.SOUND
    ago = seconds_to_micros(item.begun_ago or 0.0)
    return _number(item), item.lease.fence, ago, int(standing)


def _log_rows(item: Report) -> Iterator[Row]:
    for line in item.lines:
        at = None if line.at is None else to_micros(line.at)
        yield _number(item), item.lease.fence, at, line.level, line.message


def _number(item: Report) -> int:
    return int(item.lease.job_id)
