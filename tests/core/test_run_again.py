"""Every ending of a run, and what is written for it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.core.errors import InputError, OptionError
from tenure.core.job import State
from tenure.core.lease import ClaimedJob
from tenure.core.outcome import (
    Cancel,
    Done,
    Ending,
    Fail,
    NotFound,
    Raised,
    Released,
    Retry,
    Skip,
    Snooze,
    TimedOut,
)
from tenure.core.rules.retry import Exponential, Random
from tenure.core.rules.run_again import MAX_REFUNDS, MAX_SNOOZES, decide
from tenure.core.settlement import Settlement
from tests.core.values import claimed, middle

POLICY = Exponential(base=10, cap=100, jitter=False)
ERROR = Raised(ValueError("boom"))
FIRST, LAST = claimed(), claimed(attempt=5)
CALLED_OFF = claimed(cancel_requested=True)


def decided(job: ClaimedJob, ending: Ending) -> Settlement:
    return decide(job, ending, POLICY, middle)


@pytest.mark.parametrize(
    ("job", "ending", "state", "entry", "reason"),
    [
        (FIRST, Done("1"), State.SUCCEEDED, None, None),
        (LAST, Done(), State.SUCCEEDED, None, None),
        (CALLED_OFF, Done(), State.SUCCEEDED, None, None),
        (FIRST, Retry("x"), State.QUEUED, "error", None),
        (LAST, Retry("x"), State.DEAD, "error", "exhausted"),
        (CALLED_OFF, Retry("x"), State.CANCELED, "error", "canceled"),
        (FIRST, ERROR, State.QUEUED, "error", None),
        (LAST, ERROR, State.DEAD, "error", "exhausted"),
        (CALLED_OFF, ERROR, State.CANCELED, "error", "canceled"),
        (FIRST, Raised(InputError("x")), State.FAILED, "failed", "bad_input"),
        (FIRST, Raised(OptionError("x")), State.FAILED, "failed", "bad_option"),
        (FIRST, TimedOut(5), State.QUEUED, "timeout", None),
        (LAST, TimedOut(5), State.DEAD, "timeout", "exhausted"),
        (FIRST, Fail("x"), State.FAILED, "failed", "permanent"),
        (FIRST, Fail("x", code="no_invoice"), State.FAILED, "failed", "no_invoice"),
        (LAST, Fail("x"), State.FAILED, "failed", "permanent"),
        (FIRST, Cancel(), State.CANCELED, "canceled", "canceled"),
        (FIRST, NotFound(), State.NOT_FOUND, "not_found", None),
        (FIRST, Skip(), State.SKIPPED, "skipped", None),
        (FIRST, Snooze(60), State.QUEUED, "snoozed", None),
        (LAST, Snooze(60), State.QUEUED, "snoozed", None),
        (CALLED_OFF, Snooze(60), State.CANCELED, "canceled", "canceled"),
        (FIRST, Released(), State.QUEUED, "released", None),
        (LAST, Released(), State.QUEUED, "released", None),
        (CALLED_OFF, Released(), State.CANCELED, "canceled", "canceled"),
    ],
)
def test_an_ending_becomes_a_settlement(
    job: ClaimedJob, ending: Ending, state: State, entry: str | None, reason: str | None
) -> None:
    found = decided(job, ending)

    assert (found.state, found.entry, found.reason) == (state, entry, reason)
    assert found.lease == job.lease


def test_a_result_travels_with_the_success() -> None:
    assert decided(FIRST, Done('{"a": 1}')).result == '{"a": 1}'


def test_a_retry_waits_as_the_policy_says() -> None:
    assert decided(FIRST, ERROR).delay_seconds == 10
    assert decided(claimed(attempt=3), ERROR).delay_seconds == 40


class OwnPolicy:
    """As a user may write one."""

    attempts = 5

    def __init__(self, wait: float) -> None:
        self.wait = wait

    def delay(self, attempt: int, random: Random) -> float:
        return self.wait

    def permanent(self, error: BaseException) -> bool:
        return False


def test_the_wait_of_a_users_policy_is_one_that_a_row_can_have() -> None:
    assert decide(FIRST, ERROR, OwnPolicy(-0.5), middle).delay_seconds == 0
    with pytest.raises(OptionError, match="seconds from 0 to ten years, not 1e"):
        decide(FIRST, ERROR, OwnPolicy(1e300), middle)


def test_a_retry_with_its_own_delay_waits_that_long() -> None:
    assert decided(FIRST, Retry(delay=7)).delay_seconds == 7
    assert decided(FIRST, Retry(delay=0)).delay_seconds == 0


def test_a_snooze_costs_no_attempt() -> None:
    found = decided(FIRST, Snooze(60))

    assert (found.refund, found.snooze, found.delay_seconds) == (True, True, 60)


def test_a_release_costs_no_attempt_until_there_were_too_many() -> None:
    assert decided(FIRST, Released()).refund
    assert not decided(claimed(refunds=MAX_REFUNDS), Released()).refund


def test_a_job_released_too_often_dies_with_its_last_attempt() -> None:
    found = decided(claimed(refunds=MAX_REFUNDS, attempt=5), Released())

    assert (found.state, found.reason) == (State.DEAD, "released_too_often")


def test_a_job_snoozed_too_often_fails() -> None:
    found = decided(claimed(snoozes=MAX_SNOOZES), Snooze(1))

    assert (found.state, found.reason) == (State.FAILED, "snoozed_too_often")


def test_the_failure_tells_what_was_raised() -> None:
    failure = decided(FIRST, ERROR).failure

    assert failure is not None
    assert (failure.type, failure.message) == ("ValueError", "boom")


def test_a_timeout_tells_its_limit() -> None:
    failure = decided(FIRST, TimedOut(2.5)).failure

    assert failure is not None
    assert (failure.code, failure.message) == ("timeout", "ran longer than its limit of 2.5 s")


def test_an_ending_without_a_message_has_no_failure() -> None:
    for ending in (Skip(), NotFound(), Cancel(), Snooze(1)):
        assert decided(FIRST, ending).failure is None
    assert decided(FIRST, Skip("already sent")).failure is not None


ENDINGS: st.SearchStrategy[Ending] = st.sampled_from(
    [ERROR, Retry("x"), TimedOut(1), Snooze(1), Released(), Retry(delay=0)]
)


def next_run(job: ClaimedJob, settlement: Settlement) -> ClaimedJob:
    """What the store makes of a requeue at the following claim."""
    facts: dict[str, Any] = {
        "attempt": job.attempt - settlement.refund + 1,
        "refunds": job.refunds + (settlement.refund and not settlement.snooze),
        "snoozes": job.snoozes + settlement.snooze,
        "max_attempts": job.max_attempts,
    }
    return claimed(**facts)


@given(st.lists(ENDINGS, max_size=80), st.integers(1, 6))
def test_attempts_are_bounded_whatever_the_endings(
    endings: list[Ending], max_attempts: int
) -> None:
    job = claimed(max_attempts=max_attempts)
    for ending in endings:
        assert job.attempt <= max_attempts
        found = decided(job, ending)
        if found.state.final:
            break
        job = next_run(job, found)


@given(st.integers(1, 6))
def test_a_job_that_is_always_released_ends(max_attempts: int) -> None:
    job, runs = claimed(max_attempts=max_attempts), 1
    while not (found := decided(job, Released())).state.final:
        job, runs = next_run(job, found), runs + 1

    assert runs == MAX_REFUNDS + max_attempts


def test_a_job_that_always_snoozes_ends() -> None:
    job, runs = claimed(), 1
    while not (found := decided(job, Snooze(0))).state.final:
        job, runs = next_run(job, found), runs + 1

    assert (found.state, runs) == (State.FAILED, MAX_SNOOZES + 1)


@given(ENDINGS, st.integers(1, 9))
def test_a_cancel_that_was_asked_for_ends_every_requeue(ending: Ending, attempt: int) -> None:
    job = claimed(cancel_requested=True, attempt=attempt, max_attempts=9)

    assert decided(job, ending).state is State.CANCELED
