"""Signals as sentences: notable things are said, and an outage is said once."""

from __future__ import annotations

import pytest

from tenure import State
from tenure.cli import events
from tenure.cli.events import Storyteller
from tenure.core.errors import StoreUnavailable
from tenure.core.failure import Failure
from tenure.core.signals import Signals

SETTLED = {"id": "7", "fence": 1, "entry": "error", "reason": None, "failure": None}


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def signals(said: list[str]) -> Signals:
    signals = Signals()
    Storyteller(lambda tone, text: said.append(f"{tone}: {text}")).listen(signals)
    signals.emit("job.started", id="7", kind="mail", attempt=2)
    return signals


def test_success_is_silent(signals: Signals, said: list[str]) -> None:
    signals.emit("job.settled", **{**SETTLED, "state": State.SUCCEEDED, "entry": None})

    assert said == []


def test_a_failure_names_the_job_its_attempt_and_the_cause(
    signals: Signals, said: list[str]
) -> None:
    failure = Failure(type="ValueError", message="two\nlines")
    facts = {**SETTLED, "failure": failure, "delay_seconds": 2.5}
    signals.emit("job.settled", **facts, state=State.QUEUED)

    assert said == [
        "warning: job 7 (mail) failed attempt 2, to be retried in 2.5 s: ValueError: two lines"
    ]


def test_a_lost_lease_is_told(signals: Signals, said: list[str]) -> None:
    signals.emit("lease.lost", id="7", fence=3)
    signals.emit("job.settle_refused", **SETTLED, state=State.SUCCEEDED)

    assert [line.partition(":")[0] for line in said] == ["warning", "warning"]
    assert "job 7 (mail): lease lost (fence 3)" in said[0]


def test_an_outage_is_told_once_and_the_next_one_again(signals: Signals, said: list[str]) -> None:
    error = StoreUnavailable("gone")
    for _ in range(3):
        signals.emit("store.unavailable", error=error, step="claim")
        signals.emit("heartbeat.failed", error=error, known=True)
    assert said == ["error: database unavailable, trying again: gone"]

    signals.emit("job.started", id="8", kind="mail", attempt=1)
    signals.emit("store.unavailable", error=error, step="settle")
    assert len(said) == 2


def test_an_outage_after_a_quiet_time_is_a_new_one(
    signals: Signals, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "NEW_OUTAGE_SECONDS", 0.0)
    for _ in range(2):
        signals.emit("worker.error", error=ValueError("odd"), step="claim")

    assert said == ["error: claim failed: ValueError: odd"] * 2


def test_what_is_not_known_passes(signals: Signals, said: list[str]) -> None:
    signals.emit("jobs.enqueued", ids=["9"])
    signals.emit("job.let_go", id="7", settled=True)

    assert said == []
