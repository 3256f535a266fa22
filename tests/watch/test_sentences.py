"""Signals as sentences: notable things are said, and an outage is said once."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tenure import State, Tenure
from tenure.core.errors import StoreUnavailable
from tenure.core.failure import Failure
from tenure.core.settlement import SettledRun, Settlement
from tenure.core.signals import Signals
from tenure.feature.sentence import Sentence
from tenure.features.schedules import Schedules
from tenure.watch import storyteller
from tenure.watch.storyteller import Storyteller
from tests.watch.conftest import claimed

JOB = claimed("mail")


def settled(state: State, **facts: Any) -> dict[str, Any]:
    return {"batch": [SettledRun(JOB, Settlement(JOB.lease, state, **facts), 0.012)]}


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def signals(said: list[str]) -> Signals:
    signals = Signals()
    Storyteller(speaker(said)).listen(signals)
    return signals


def speaker(said: list[str]) -> Any:
    def say(sentence: Sentence) -> None:
        said.append(f"{sentence.tone}: {sentence.text}")

    return say


def test_success_is_silent(signals: Signals, said: list[str]) -> None:
    signals.emit("jobs.settled", **settled(State.SUCCEEDED))

    assert said == []


def test_success_is_told_where_every_step_is_wanted(said: list[str]) -> None:
    signals = Signals()
    Storyteller(speaker(said), verbose=True).listen(signals)
    signals.emit("jobs.settled", **settled(State.SUCCEEDED))
    signals.emit("jobs.enqueued", ids=["9"])

    assert said == ["debug: job 7 (mail) succeeded at attempt 2 in 12 ms", "debug: enqueued 1 job"]


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        (
            {"state": State.QUEUED, "entry": "error", "delay_seconds": 2.5},
            "warning: job 7 (mail) failed attempt 2, to be retried in 2.5 s: ValueError: two lines",
        ),
        (
            {"state": State.FAILED, "entry": "failed"},
            "error: job 7 (mail) failed for good at attempt 2: ValueError: two lines",
        ),
        (
            {"state": State.DEAD, "entry": "error"},
            "error: job 7 (mail) is dead after attempt 2: ValueError: two lines",
        ),
    ],
)
def test_a_failure_names_the_job_its_attempt_and_the_cause(
    signals: Signals, said: list[str], facts: dict[str, Any], sentence: str
) -> None:
    failure = Failure(type="ValueError", message="two\nlines")
    signals.emit("jobs.settled", **settled(**facts, failure=failure))

    assert said == [sentence]


@pytest.mark.parametrize("entry", ["snoozed", "released"])
def test_a_snooze_is_silent_and_a_release_is_not(
    signals: Signals, said: list[str], entry: str
) -> None:
    signals.emit("jobs.settled", **settled(State.QUEUED, entry=entry))

    assert len(said) == (entry == "released")


def test_a_lost_lease_is_told(signals: Signals, said: list[str]) -> None:
    signals.emit("lease.lost", id="7", fence=3, job=JOB)
    signals.emit("job.settle_refused", id="7", fence=3, job=JOB)
    signals.emit("job.settle_refused", id="8", fence=3, job=None)

    assert [line.partition(":")[0] for line in said] == ["warning"] * 3
    assert "job 7 (mail): lease lost (fence 3)" in said[0]
    assert "job 8: its result under fence 3 arrived too late" in said[2]


def test_an_outage_is_told_once_and_the_next_one_again(signals: Signals, said: list[str]) -> None:
    error = StoreUnavailable("gone")
    for _ in range(3):
        signals.emit("store.unavailable", error=error, step="claim")
        signals.emit("heartbeat.failed", error=error, known=True)
    assert said == ["error: database unavailable, trying again: gone"]

    signals.emit("jobs.claimed", jobs=0, seconds=0.001)
    signals.emit("store.unavailable", error=error, step="settle")
    assert len(said) == 2


def test_an_outage_after_a_quiet_time_is_a_new_one(
    signals: Signals, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storyteller, "NEW_OUTAGE_SECONDS", 0.0)
    for _ in range(2):
        signals.emit("worker.error", error=ValueError("odd"), step="claim")

    assert said == ["error: claim failed: ValueError: odd"] * 2


def test_wake_ups_that_stay_away_are_told_once_a_minute(signals: Signals) -> None:
    """A listener and a sender miss the same broker, each at its own moments."""
    now, told = [0.0], list[float]()
    teller = storyteller.Storyteller(lambda _: told.append(now[0]), monotonic=lambda: now[0])
    teller.listen(signals)

    for seconds in range(0, 200, 5):
        now[0] = float(seconds)
        signals.emit("wake.failed", error=OSError("gone"), step="listen")

    assert told == [0.0, 60.0, 120.0, 180.0]


def test_what_operators_do_is_told_with_their_names(signals: Signals, said: list[str]) -> None:
    signals.emit("queue.paused", queue="mail", actor="ada")
    signals.emit("jobs.moved", move="retry", actor="ada", jobs=2)

    assert said == ["info: queue mail paused by ada", "info: retry: 2 jobs by ada"]


def test_the_sentences_of_features_are_told_too(app: Tenure, said: list[str]) -> None:
    Storyteller(speaker(said), verbose=True).listen(app.signals, app.features)
    Schedules(app)
    app.signals.emit("schedule.paused", schedule="nightly", actor="bob")
    app.signals.emit("schedule.fired", schedule="nightly", slot="today", jobs=["1"])

    assert said == [
        "info: schedule nightly paused by bob",
        "debug: schedule nightly fired for today",
    ]


def test_a_failed_request_is_told_in_one_line(signals: Signals, said: list[str]) -> None:
    signals.emit("api.failed", error=ValueError("a\nb"), method="GET", path="/x\n", request_id="r1")

    assert said == ["error: GET /x failed (request r1): ValueError: a b"]


def test_a_failed_request_is_told_with_the_place_of_the_mistake(
    signals: Signals, said: list[str]
) -> None:
    try:
        int("one")
    except ValueError as error:
        signals.emit("api.failed", error=error, method="GET", path="/x", request_id="r1")

    place = "test_sentences.py:[0-9]+ in test_a_failed_request_is_told_with_the_place"
    assert re.search(rf"failed \(request r1, {place}", said[0])


def test_callers_that_are_refused_are_told_once_for_each_sort(
    signals: Signals, said: list[str]
) -> None:
    for how in ("key", "key", "token"):
        signals.emit("caller.refused", how=how, reason=f"this {how} is not valid\n")
    signals.emit("jwks.failed", url="https://issuer.example/keys", error="answered 500")

    assert said == [
        "warning: a caller was refused (key): this key is not valid",
        "warning: a caller was refused (token): this token is not valid",
        "error: cannot fetch the issuer's signing keys: answered 500",
    ]


def test_what_was_said_is_not_remembered_without_end(
    said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storyteller, "MOST_SAID", 10)
    signals, teller = Signals(), Storyteller(speaker(said))
    teller.listen(signals)
    for number in range(50):
        signals.emit("worker.error", error=ValueError(f"odd {number}"), step="claim")

    assert len(said) == 50
    assert len(teller._said) <= 10


def test_what_is_not_known_passes(signals: Signals, said: list[str]) -> None:
    signals.emit("jobs.enqueued", ids=["9"])
    signals.emit("job.let_go", id="7", settled=True)

    assert said == []
    assert not signals.heard("job.started")
    assert not signals.heard("job.settled")


@pytest.mark.parametrize(
    "evil", ["\n12:00:00  worker x stopped", "\x1b[2J", "\u2028", "\x85", "\u202e"]
)
def test_nobody_can_write_a_line_of_their_own(signals: Signals, said: list[str], evil: str) -> None:
    failure = Failure(type=f"Bad{evil}", message=f"a{evil}b")
    job = claimed(f"mail{evil}")
    facts = SettledRun(job, Settlement(job.lease, State.DEAD, entry="error", failure=failure))
    signals.emit("jobs.settled", batch=[facts])
    signals.emit("queue.paused", queue=f"q{evil}", actor=f"me{evil}")
    signals.emit("worker.error", error=ValueError(f"a{evil}"), step="claim")

    assert len(said) == 3
    assert all(line.isprintable() for line in said)
