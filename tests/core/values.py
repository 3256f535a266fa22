"""Values that the tests of the core start from."""

from __future__ import annotations

from typing import Any

from tenure.core.lease import ClaimedJob, Lease

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
