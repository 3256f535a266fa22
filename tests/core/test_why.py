"""The one reason why a job is not running."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from tenure.core.job import State
from tenure.core.rules.order import Hold
from tenure.core.rules.why import Facts, why
from tests.core.values import JOB, NOW

LATER = NOW + timedelta(minutes=5)
EARLIER = NOW - timedelta(minutes=5)
BUSY = Facts(now=NOW, workers=2, ahead=3)


@pytest.mark.parametrize(
    ("job", "facts", "code", "said"),
    [
        ({"state": State.DEAD, "reason": "exhausted"}, {}, "ended", "dead (exhausted)"),
        ({"state": State.SUCCEEDED}, {}, "ended", "it has ended: succeeded"),
        ({"state": State.RUNNING, "lease_until": LATER, "lease_owner": "w1"}, {}, "running", "w1"),
        (
            {"state": State.RUNNING, "lease_until": LATER, "cancel_requested": True},
            {},
            "running",
            "asked to stop",
        ),
        ({"state": State.RUNNING, "lease_until": EARLIER}, {}, "lease_over", "went silent"),
        ({"hold": Hold.ORDER, "ordering_key": "k"}, {"head": ("3", State.RUNNING)}, "order", "3"),
        ({"hold": Hold.ORDER, "ordering_key": "k"}, {}, "order", "behind another"),
        (
            {"hold": Hold.ORDER, "ordering_key": "k"},
            {"head": ("3", State.DEAD)},
            "order_blocked",
            "job 3 of its ordering key 'k' is dead: retry or cancel it",
        ),
        ({"hold": Hold.AFTER, "waits_for": ("3", "5")}, {}, "after", "depends on: 3, 5"),
        ({"hold": Hold.LIMIT}, {}, "limit", "limit"),
        ({"expires_at": EARLIER}, {}, "expired", "not started in time"),
        ({"run_at": LATER}, {}, "run_at", "2026-05-01T12:05:00"),
        ({"run_at": LATER, "attempt": 2}, {}, "backoff", "attempt 2 failed"),
        ({}, {"paused_by": "ada"}, "paused", "paused by ada"),
        ({}, {"workers": 0}, "no_worker", "start one"),
        ({}, {"knows_kind": False}, "unknown_kind", "'mail.send' from the queue 'mail'"),
        ({}, {"serves_tenant": False}, "other_shard", "the tenant 'acme'"),
        ({"hold": Hold.LIMIT}, {"paused_by": "ada"}, "paused", "paused by ada"),
        ({"hold": Hold.LIMIT}, {"workers": 0}, "no_worker", "start one"),
        ({"hold": Hold.LIMIT, "run_at": LATER, "attempt": 1}, {}, "backoff", "attempt 1 failed"),
        ({}, {"cap": 2, "running": 2}, "limit", "2 jobs of the tenant 'acme' run, its cap"),
        ({}, {"cap": 2, "running": 1}, "behind", "3 jobs are before it"),
        ({}, {}, "behind", "3 jobs are before it"),
        ({}, {"ahead": 1_001}, "behind", "more than 1,000"),
        ({}, {"ahead": 0}, "next", "free slot"),
    ],
)
def test_the_reason(job: dict[str, Any], facts: dict[str, Any], code: str, said: str) -> None:
    found = why(replace(JOB, **job), replace(BUSY, **facts))

    assert found.code == code
    assert said in found.text
