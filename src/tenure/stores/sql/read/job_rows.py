"""Rows of jobs, their history and log lines, as lists and details show them."""

from __future__ import annotations

import json
from datetime import datetime
from typing import NamedTuple

from tenure.core.job import Job, State
from tenure.core.lease import Standing
from tenure.core.timing.clock import from_micros
from tenure.stores.contract import Attempt, LogLine
from tenure.stores.sql.rows import RUNNING, STATES
from tenure.stores.sql.statement import Row


class JobRow(NamedTuple):
    """A row of the fragment `job`. The last three columns are there only when they were asked
    for.
    """

    id: int
    kind: str
    queue: str
    state: int
    priority: int
    tenant: str
    owner: str | None
    attempt: int
    max_attempts: int
    fence: int
    hold: int
    run_at: int
    created_at: int
    started_at: int | None
    finished_at: int | None
    expires_at: int | None
    lease_owner: str | None
    lease_until: int | None
    cancel_requested: int
    unique_key: str | None
    reason: str | None
    progress: float | None
    progress_note: str | None
    correlation_id: str | None
    trace: str | None
    enqueued_by: str | None
    ordering_key: str | None
    batch_id: int | None
    seq: int | None
    snoozes: int
    refunds: int
    crashes: int
    standing: int
    lifted: int
    payload: str | None = None
    result: str | None = None
    waits_for: str | None = None


def job(found: Row) -> Job:
    """A job. One that was claimed ahead and has not started is shown as queued."""
    row = JobRow(*found)
    in_full = len(found) == len(JobRow._fields)
    reserved = row.state == RUNNING and row.standing == Standing.RESERVED
    return Job(
        id=str(row.id), kind=row.kind, queue=row.queue,
        state=State.QUEUED if reserved else STATES[row.state], priority=row.priority,
        tenant=row.tenant, owner=row.owner, attempt=row.attempt, max_attempts=row.max_attempts,
        fence=row.fence, hold=row.hold,
        run_at=from_micros(row.run_at), created_at=from_micros(row.created_at),
        started_at=None if reserved else moment(row.started_at),
        finished_at=moment(row.finished_at), expires_at=moment(row.expires_at),
        lease_owner=row.lease_owner, lease_until=moment(row.lease_until),
        cancel_requested=bool(row.cancel_requested), key=row.unique_key, reason=row.reason,
        progress=row.progress, progress_note=row.progress_note,
        correlation_id=row.correlation_id, trace=row.trace, enqueued_by=row.enqueued_by,
        ordering_key=row.ordering_key, batch_id=None if row.batch_id is None else str(row.batch_id),
        seq=row.seq, snoozes=row.snoozes, refunds=row.refunds, crashes=row.crashes,
        reserved=reserved, lifted=bool(row.lifted), payload_json=row.payload,
        result_json=row.result,
        waits_for=_ids(row.waits_for) if in_full else None,
    )  # fmt: skip


def attempt(found: Row) -> Attempt:
    """A line of history."""
    fence, number, entry, worker, started_at, finished_at, failure = found
    return Attempt(
        fence=fence,
        attempt=number,
        entry=entry,
        worker=worker,
        started_at=moment(started_at),
        finished_at=from_micros(finished_at),
        failure=None if failure is None else json.loads(failure),
    )


def failure_counts(found: Row) -> dict[str, int]:
    """What a row of `failure_counts` says. An operator's retry has no failure: nothing counts."""
    _, failure = found
    counts: dict[str, int] = {} if failure is None else json.loads(failure).get("counts", {})
    return counts


def log_line(found: Row) -> LogLine:
    """A line that a handler wrote."""
    message, level, at, number = found
    return LogLine(message=message, level=level, at=from_micros(at), id=str(number))


def moment(micros: int | None) -> datetime | None:
    """A time that may be missing."""
    return None if micros is None else from_micros(micros)


def _ids(listed: str | None) -> tuple[str, ...]:
    """The ids in a JSON list of numbers."""
    return () if listed is None else tuple(map(str, sorted(json.loads(listed))))
