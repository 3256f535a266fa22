"""Values that the tests of the core start from."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from tenure.core.job import Job, State
from tenure.core.lease import ClaimedJob, Lease

NOW = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
JOB = Job(
    id="7", kind="mail.send", queue="mail", state=State.QUEUED, priority=2, tenant="acme",
    owner=None, attempt=0, max_attempts=5, fence=0, hold=0, run_at=NOW, created_at=NOW,
    started_at=None, finished_at=None, expires_at=None, lease_owner=None, lease_until=None,
    cancel_requested=False, key=None, reason=None, progress=None, progress_note=None,
    correlation_id=None, trace=None, enqueued_by=None, ordering_key=None, batch_id=None, seq=None,
    snoozes=0, refunds=0,
)  # fmt: skip
FACTS: dict[str, Any] = {
    "kind": "work",
    "queue": "default",
    "payload": "{}",
    "priority": 2,
    "tenant": "",
    "owner": None,
    "attempt": 1,
    "max_attempts": 5,
    "snoozes": 0,
    "refunds": 0,
    "correlation_id": None,
    "trace": None,
    "cancel_requested": False,
    "started_micros": 0,
}


def claimed(**facts: Any) -> ClaimedJob:
    """A job in its first run, unless told otherwise."""
    return ClaimedJob(lease=Lease("1", 1, "worker"), **{**FACTS, **facts})


def middle() -> float:
    """A random number for those who want none."""
    return 0.5
