"""Jobs as rows and rows as jobs, for adding, claiming and settling.

Every row has its columns' names here; nobody reads one by position. What lists and details show is
in `read/job_rows.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

from tenure.core.job import NewJob, State
from tenure.core.lease import ClaimedJob, Lease
from tenure.core.rules.shard import bucket
from tenure.core.rules.shares import Lane
from tenure.core.settlement import Settlement
from tenure.core.timing.clock import seconds_to_micros, to_micros
from tenure.stores.contract import ClaimRequest
from tenure.stores.sql.statement import Row, Rows

STATES = tuple(State)
CODES = {state: code for code, state in enumerate(STATES)}
RUNNING = CODES[State.RUNNING]
LAST_ID = 2**63 - 1  # the highest id that a column can hold
# Longer payloads have a row of their own, which a claim and a settle do not rewrite.
INLINE_BYTES = 200

JOB_COLUMNS = (
    "kind", "queue", "priority", "tenant", "owner", "payload", "run_at", "delay", "expires_at",
    "expires_delay", "max_attempts", "correlation_id", "trace", "enqueued_by", "ordering_key",
    "bucket", "batch_id", "seq", "unplaced",
)  # fmt: skip
SETTLE_COLUMNS = ("id", "fence", "state", "delay", "result", "reason", "refund", "snooze", "crash")
_KEY, _PAYLOAD, _TIES = attrgetter("key"), attrgetter("payload"), attrgetter("after")
_ORDER, _LIMIT = attrgetter("ordering_key"), attrgetter("limit_key")


class ClaimedRow(NamedTuple):
    """A row of the fragment `claimed`."""

    id: int
    fence: int
    kind: str
    queue: str
    payload: str | None
    priority: int
    tenant: str
    attempt: int
    max_attempts: int
    started_at: int
    standing: int
    rare: str | None
    run_at: int
    limit_key: str | None


def columns(*names: str) -> itemgetter[Any]:
    """Reads these columns of a row of the fragment `claimed`. The rows of a plain claim stay the
    driver's tuples: naming each one costs a tenth of a microsecond for each job.
    """
    return itemgetter(*map(ClaimedRow._fields.index, names))


def claimed_rows(found: Rows) -> list[ClaimedRow]:
    """These rows with names. `tuple.__new__` takes a fifth of the time of `ClaimedRow(*row)`."""
    make = tuple.__new__
    return [make(ClaimedRow, row) for row in found]


def is_large(payload: str) -> bool:
    """Whether it is stored apart from the row: docs/decisions/0001 has the measurement."""
    return len(payload) > INLINE_BYTES


def are_plain(jobs: Sequence[NewJob]) -> bool:
    """Whether one statement adds them: no keys, no ties to other jobs, no large payload."""
    return (
        not any(map(_KEY, jobs))
        and not any(map(_ORDER, jobs))
        and not any(map(_TIES, jobs))
        and not any(map(_LIMIT, jobs))
        and max(map(len, map(_PAYLOAD, jobs))) <= INLINE_BYTES
    )


def are_alike(jobs: Sequence[NewJob]) -> bool:
    """Whether they differ in their payload alone, which is the second field."""
    kind, shared = jobs[0].kind, jobs[0][2:]
    return all(job.kind == kind and job[2:] == shared for job in jobs)


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
    """Who claims, for how long, and from which queues it claims ahead."""
    return {
        "owner": request.owner,
        "lease": seconds_to_micros(request.lease_seconds),
        "reserving": list(request.reserving),
    }


def claimed(found: Iterable[Row], owner: str, large: Mapping[int, str]) -> list[ClaimedJob]:
    """What a worker gets, from rows of the fragment `claimed`; `large` has the payloads that are
    stored apart, by id.
    """
    # Half the time of calling ClaimedJob and Lease. The tuple is spelled out for the usual job:
    # a starred expression in it takes as long as all the rest.
    make = tuple.__new__
    return [
        make(
            ClaimedJob,
            (
                make(Lease, (str(number), fence, owner)), kind, queue,
                large[number] if payload is None else payload, priority, tenant, attempt,
                max_attempts, started_at, standing, None, 0, 0, None, None, False, None, 0, gate,
                run_at,
            )
            if rare is None
            else (
                make(Lease, (str(number), fence, owner)), kind, queue,
                large[number] if payload is None else payload, priority, tenant, attempt,
                max_attempts, started_at, standing, *_rare(rare), gate, run_at,
            ),
        )
        for (
            number, fence, kind, queue, payload, priority, tenant, attempt, max_attempts,
            started_at, standing, rare, run_at, gate,
        ) in found
    ]  # fmt: skip


def _rare(listed: str) -> Row:
    """The fragment `rare`: what few jobs have, in the order of ClaimedJob's last fields."""
    *facts, cancel_requested, expires_at, unplaced = json.loads(listed)
    return (*facts, bool(cancel_requested), expires_at, unplaced)


def freed_lanes(found: Rows) -> list[Lane]:
    """The lanes of jobs that may run now: rows of (id, queue, priority, tenant)."""
    return [Lane(queue, priority, tenant) for _, queue, priority, tenant in found]
