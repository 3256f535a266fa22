"""Rows to values and back. The order of the fields is that of the fragments `claimed` and `job`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from operator import attrgetter

from tenure.core.errors import OptionError
from tenure.core.job import Job, NewJob, State
from tenure.core.lease import ClaimedJob, Lease, Standing
from tenure.core.rules.shard import bucket
from tenure.core.settlement import Settlement
from tenure.core.timing.clock import from_micros, seconds_to_micros, to_micros
from tenure.stores.contract import Attempt, ClaimRequest, LogLine
from tenure.stores.contract.parts import Record
from tenure.stores.sql.statement import Row, Rows

STATES = tuple(State)
CODES = {state: code for code, state in enumerate(STATES)}
RUNNING = CODES[State.RUNNING]
LAST_ID = 2**63 - 1
INLINE_BYTES = 200
NOTHING_RARE: Row = (None, 0, 0, None, None, False, None, 0)

JOB_COLUMNS = (
    "kind", "queue", "priority", "tenant", "owner", "payload", "run_at", "delay", "expires_at",
    "expires_delay", "max_attempts", "correlation_id", "trace", "enqueued_by", "ordering_key",
    "bucket", "batch_id", "seq", "unplaced",
)  # fmt: skip
KEYED_COLUMNS = (*JOB_COLUMNS, "unique_key", "payload_hash")
SETTLE_COLUMNS = ("id", "fence", "state", "delay", "result", "reason", "refund", "snooze", "crash")
_KEY, _PAYLOAD, _TIES = attrgetter("key"), attrgetter("payload"), attrgetter("after")
_ORDER, _LIMIT = attrgetter("ordering_key"), attrgetter("limit_key")
HISTORY_COLUMNS = ("id", "fence", "spent", "entry", "worker", "failure")


def payload_hash(payload: str) -> str:
    """Tells one payload from another under the same key."""
    return hashlib.blake2b(payload.encode(), digest_size=16).hexdigest()


def is_large(payload: str) -> bool:
    """Whether it lives beside the row: docs/decisions/0001 has the measurement."""
    return len(payload) > INLINE_BYTES


def are_plain(jobs: Sequence[NewJob]) -> bool:
    """Whether one statement adds them: no key to settle, no tie to others, no large payload."""
    return (
        not any(map(_KEY, jobs))
        and not any(map(_ORDER, jobs))
        and not any(map(_TIES, jobs))
        and not any(map(_LIMIT, jobs))
        and max(map(len, map(_PAYLOAD, jobs))) <= INLINE_BYTES
    )


def are_alike(jobs: Sequence[NewJob]) -> bool:
    """Whether they differ in their payload alone, which is the second field."""
    kind, shared = jobs[0][0], jobs[0][2:]
    return all(job[0] == kind and job[2:] == shared for job in jobs)


def new_job(job: NewJob) -> Row:
    """The values of JOB_COLUMNS."""
    (
        kind, payload, queue, priority, tenant, owner, _, run_at, delay, expires_at, expires,
        max_attempts, correlation_id, trace, enqueued_by, ordering_key, batch_id, seq, *_, unplaced,
    ) = job  # fmt: skip
    return (
        kind,
        queue,
        priority,
        tenant,
        owner,
        payload if len(payload) <= INLINE_BYTES else None,
        None if run_at is None else to_micros(run_at),
        seconds_to_micros(delay) if delay else 0,
        None if expires_at is None else to_micros(expires_at),
        None if expires is None else seconds_to_micros(expires),
        max_attempts,
        correlation_id,
        trace,
        enqueued_by,
        ordering_key,
        bucket(tenant),
        None if batch_id is None else int(batch_id),
        seq,
        int(unplaced),
    )


def keyed_job(job: NewJob) -> Row:
    """The values of KEYED_COLUMNS. A key with a window lives in its own table."""
    if job.key is None or job.key.window_seconds is not None:
        return (*new_job(job), None, None)
    return (*new_job(job), job.key.value, payload_hash(job.payload))


def settlement(item: Settlement) -> Row:
    """The values of SETTLE_COLUMNS."""
    return (
        int(item.lease.job_id),
        item.lease.fence,
        CODES[item.state],
        seconds_to_micros(item.delay_seconds),
        item.result,
        item.reason,
        int(item.refund),
        int(item.snooze),
        int(item.crash),
    )


def lease_values(request: ClaimRequest) -> dict[str, object]:
    """Who claims, for how long, and what has not begun yet."""
    return {
        "owner": request.owner,
        "lease": seconds_to_micros(request.lease_seconds),
        "reserving": list(request.reserving),
    }


def claimed(found: Rows, owner: str, large: Mapping[int, str]) -> list[ClaimedJob]:
    """Rows of the fragment `claimed`; `large` has the payloads that live beside them.

    Both tuples are made without their own `__new__`, which takes five times as long.
    """
    make = tuple.__new__
    return [
        make(
            ClaimedJob,
            (
                make(Lease, (str(row[0]), row[1], owner)),
                *(row[2:11] if row[4] is not None else (*row[2:4], large[row[0]], *row[5:11])),
                *(NOTHING_RARE if row[11] is None else _rare(row[11])),
            ),
        )
        for row in found
    ]


def _rare(listed: str) -> Row:
    """The fragment `rare`: what few jobs have, in the order of ClaimedJob's last fields."""
    *facts, cancel_requested, expires_at, unplaced = json.loads(listed)
    return (*facts, bool(cancel_requested), expires_at, unplaced)


def job(row: Row) -> Job:
    """A row of the fragment `job`, with payload and result where they were asked for."""
    reserved = row[3] == RUNNING and row[32] == Standing.RESERVED
    return Job(
        id=str(row[0]), kind=row[1], queue=row[2],
        state=State.QUEUED if reserved else STATES[row[3]], priority=row[4],
        tenant=row[5], owner=row[6], attempt=row[7], max_attempts=row[8], fence=row[9],
        hold=row[10], run_at=from_micros(row[11]), created_at=from_micros(row[12]),
        started_at=None if reserved else _moment(row[13]), finished_at=_moment(row[14]),
        expires_at=_moment(row[15]),
        lease_owner=row[16], lease_until=_moment(row[17]), cancel_requested=bool(row[18]),
        key=row[19], reason=row[20], progress=row[21], progress_note=row[22],
        correlation_id=row[23], trace=row[24], enqueued_by=row[25], ordering_key=row[26],
        batch_id=None if row[27] is None else str(row[27]), seq=row[28], snoozes=row[29],
        refunds=row[30], crashes=row[31], reserved=reserved, lifted=bool(row[33]),
        payload=row[34] if len(row) > 34 else None,
        result=row[35] if len(row) > 34 else None,
        waits_for=_ids(row[36]) if len(row) > 34 else None,
    )  # fmt: skip


def attempt(row: Row) -> Attempt:
    """A line of history."""
    return Attempt(
        fence=row[0],
        attempt=row[1],
        entry=row[2],
        worker=row[3],
        started_at=_moment(row[4]),
        finished_at=from_micros(row[5]),
        failure=None if row[6] is None else json.loads(row[6]),
    )


def log_line(row: Row) -> LogLine:
    """A line that a handler wrote."""
    return LogLine(message=row[0], level=row[1], at=from_micros(row[2]), id=str(row[3]))


def record(row: Row) -> Record:
    """A small record."""
    return Record(
        collection=row[0],
        name=row[1],
        version=row[2],
        data=json.loads(row[3]),
        updated_at=from_micros(row[4]),
    )


def row_id(public: str) -> int | None:
    """The number behind a public id; None where no row can have it."""
    if not (public.isascii() and public.isdigit()) or len(public) > 18:
        return None
    return int(public)


def line_id(public: str | None) -> int:
    """The number behind a log line's id; the one before all lines where none is given."""
    number = 0 if public is None else row_id(public)
    if number is None:
        raise OptionError(f"{public!r} is not the id of a log line")
    return number


def _moment(micros: int | None) -> datetime | None:
    return None if micros is None else from_micros(micros)


def _ids(listed: str | None) -> tuple[str, ...]:
    """Numbers in a JSON list, as callers know them."""
    return () if listed is None else tuple(map(str, sorted(json.loads(listed))))
