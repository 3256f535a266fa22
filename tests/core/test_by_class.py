"""Policies that see the failure: each class named in `by` has delays and a bound of its own."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from tenure.core.errors import InputError, OptionError, StoreBusy
from tenure.core.failure import Failure
from tenure.core.job import State
from tenure.core.lease import Lease
from tenure.core.outcome import (
    Cancel,
    Ending,
    Fail,
    NotFound,
    Outcome,
    Raised,
    Retry,
    Skip,
    Snooze,
    Throttled,
    TimedOut,
)
from tenure.core.rules.by_class import bound_of, name_of, needs_counts
from tenure.core.rules.retry import Delays, Exponential, RetryPolicy
from tenure.core.rules.run_again import MAX_SNOOZES, decide
from tests.core.values import claimed, middle


class Gone(NotFound):
    """A class of the user's."""


class Refused(ConnectionRefusedError):
    retryable = False


BY: dict[type[BaseException], RetryPolicy] = {
    NotFound: Delays(3600, attempts=2),
    Throttled: Delays(30, attempts=100),
    OSError: Delays(1, attempts=3),
    ConnectionError: Delays(2, attempts=4),
}
POLICY = Exponential(base=10, jitter=False, attempts=5, by=BY)
FIRST, LATER = claimed(), claimed(attempt=5)._replace(lease=Lease("1", 9, "worker"))


def failure_of(found: Any) -> Failure:
    assert found.failure is not None
    return found.failure  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("ending", "name"),
    [
        (Raised(OSError()), "OSError"),
        (Raised(ConnectionRefusedError()), "ConnectionError"),
        (Raised(Refused()), None),
        (Raised(StoreBusy()), None),
        (Raised(ValueError()), None),
        (TimedOut(5), "OSError"),  # as a TimeoutError
        (NotFound(), "NotFound"),
        (Gone(), "NotFound"),
        (Throttled(1), "Throttled"),
        (Skip(), None),
        (Retry(), None),
        (Snooze(1), None),
    ],
)
def test_the_most_specific_class_decides(ending: Ending, name: str | None) -> None:
    bound = bound_of(POLICY, ending)

    assert (None if bound is None else bound.name) == name


def test_a_general_class_catches_neither_outcomes_nor_what_is_permanent() -> None:
    policy = Delays(1, by={Exception: Delays(5, attempts=9)})

    assert name_of(policy, ValueError()) == "Exception"
    assert name_of(policy, StoreBusy()) == "Exception"
    assert name_of(policy, NotFound()) == ""
    assert name_of(policy, InputError("no")) == ""
    assert policy.permanent(InputError("no"))


def test_a_class_that_is_named_is_not_permanent() -> None:
    policy = Delays(1, by={InputError: Delays(5, attempts=2)})

    assert not policy.permanent(InputError("no"))
    assert decide(FIRST, Raised(InputError("no")), policy, middle).delay_seconds == 5


@pytest.mark.parametrize(
    ("ending", "count", "entry", "delay", "told"),
    [
        (NotFound(), 0, "not_found", 3600, "NotFound 1 of 2"),
        (Raised(ConnectionError()), 2, "error", 2, "ConnectionError 3 of 4"),
        (TimedOut(5), 1, "timeout", 1, "OSError 2 of 3"),
        (Throttled(), 41, "throttled", 30, "Throttled 42 of 100"),
        (Throttled(7), 41, "throttled", 7, "Throttled 42 of 100"),
    ],
)
def test_a_class_is_retried_by_its_own_policy_at_no_attempt(
    ending: Ending, count: int, entry: str, delay: float, told: str
) -> None:
    bound = bound_of(POLICY, ending)
    assert bound is not None
    counts = {"Other": 7} | ({bound.name: count} if count else {})

    found = decide(LATER, ending, POLICY, middle, counts)

    assert (found.state, found.entry, found.delay_seconds) == (State.QUEUED, entry, delay)
    assert (found.refund, found.snooze) == (True, True)
    assert failure_of(found).bound == told
    assert failure_of(found).counts == {"Other": 7, bound.name: count + 1}


@pytest.mark.parametrize(
    ("ending", "count", "state", "reason"),
    [
        (NotFound(), 1, State.NOT_FOUND, None),
        (Gone("x"), 1, State.NOT_FOUND, None),
        (Raised(ConnectionError()), 3, State.DEAD, "exhausted"),
        (TimedOut(5), 2, State.DEAD, "exhausted"),
        (Throttled(), 99, State.DEAD, "throttled_too_often"),
        (Throttled(7), 99, State.DEAD, "throttled_too_often"),
    ],
)
def test_at_its_bound_a_class_ends_in_its_own_state(
    ending: Ending, count: int, state: State, reason: str | None
) -> None:
    bound = bound_of(POLICY, ending)
    assert bound is not None and bound.policy is not None

    found = decide(FIRST, ending, POLICY, middle, {bound.name: count})

    assert (found.state, found.reason, found.refund) == (state, reason, False)
    last = f"{bound.name} {bound.policy.attempts} of {bound.policy.attempts}"
    assert failure_of(found).bound == last


@pytest.mark.parametrize(
    ("ending", "state"),
    [
        (Skip(), State.SKIPPED),
        (Cancel(), State.CANCELED),
        (Fail("x"), State.FAILED),
        (Retry("x"), State.DEAD),
    ],
)
def test_any_outcome_may_be_named(ending: Outcome, state: State) -> None:
    policy = Exponential(by={type(ending): Delays(9, attempts=2)})
    name = type(ending).__name__

    assert decide(FIRST, ending, policy, middle).delay_seconds == 9
    assert decide(FIRST, ending, policy, middle, {name: 1}).state is state
    assert decide(FIRST, ending, Exponential(), middle).failure is None or ending.message


def test_what_by_does_not_name_goes_on_by_the_policy_itself() -> None:
    again = decide(FIRST, Raised(ValueError()), POLICY, middle, {"NotFound": 1})
    last = decide(claimed(attempt=5), Raised(ValueError()), POLICY, middle)

    assert (again.state, again.delay_seconds, again.refund) == (State.QUEUED, 10, False)
    assert (last.state, last.reason) == (State.DEAD, "exhausted")


def test_a_throttled_run_spends_nothing_under_any_policy() -> None:
    for policy in (Exponential(), Delays(), POLICY):
        found = decide(LATER, Throttled(12), policy, middle, {"Throttled": 17})

        assert (found.state, found.entry, found.delay_seconds) == (State.QUEUED, "throttled", 12)
        assert (found.refund, found.snooze) == (True, True)


def test_without_a_bound_throttling_never_ends_a_job() -> None:
    found = decide(LATER, Throttled(), Exponential(), lambda: 0.0, {"Throttled": 123_456})

    assert (found.state, found.delay_seconds) == (State.QUEUED, 1)
    assert failure_of(found).bound == "Throttled 123457"


def test_throttled_runs_are_no_snoozes() -> None:
    job = claimed(snoozes=MAX_SNOOZES + 500)

    assert decide(job, Snooze(1), POLICY, middle, {"Throttled": 501}).state is State.QUEUED
    assert decide(job, Snooze(1), POLICY, middle, {"Throttled": 500}).state is State.FAILED


@pytest.mark.parametrize("ending", [NotFound(), Throttled(5), Raised(OSError()), TimedOut(1)])
def test_a_job_that_is_called_off_is_not_retried(ending: Ending) -> None:
    found = decide(claimed(cancel_requested=True), ending, POLICY, middle)

    assert found.state in (State.CANCELED, State.NOT_FOUND)
    assert not found.refund


@pytest.mark.parametrize(
    ("ending", "snoozes", "needed"),
    [
        (NotFound(), 0, True),
        (Throttled(1), 0, True),
        (Raised(ValueError()), 0, False),
        (Snooze(1), 0, False),
        (Snooze(1), MAX_SNOOZES, True),
    ],
)
def test_history_is_read_only_where_it_decides(ending: Ending, snoozes: int, needed: bool) -> None:
    later = LATER._replace(snoozes=snoozes)

    assert needs_counts(later, ending, POLICY, MAX_SNOOZES) is needed
    assert not needs_counts(FIRST._replace(snoozes=snoozes), ending, POLICY, MAX_SNOOZES)


def test_an_outcome_from_another_process_knows_its_class() -> None:
    policy = Delays(1, by={Gone: Delays(5, attempts=2), Throttled: Delays(6)})
    gone, throttled = Gone("no"), Throttled(9)
    gone.bound_name, throttled.bound_name = "Gone", "Throttled"

    received, slowed = pickle.loads(pickle.dumps((gone, throttled)))  # noqa: S301

    assert decide(FIRST, received, policy, middle).delay_seconds == 5
    assert decide(FIRST, received, policy, middle, {"Gone": 1}).state is State.NOT_FOUND
    assert decide(FIRST, slowed, policy, middle).delay_seconds == 9


def test_classes_of_one_name_count_apart() -> None:
    other = type("Gone", (NotFound,), {"__module__": "elsewhere"})
    policy = Delays(by={Gone: Delays(1), other: Delays(2)})

    assert name_of(policy, Gone()) == "tests.core.test_by_class.Gone"
    assert name_of(policy, other()) == "elsewhere.Gone"


def test_delays_may_have_more_attempts_than_delays() -> None:
    policy = Delays(1, 60, attempts=10)

    assert policy.attempts == 10
    assert [policy.delay(attempt, middle) for attempt in (1, 2, 3, 9)] == [1, 60, 60, 60]
    assert Delays(1, 2).attempts == 3
    assert hash(Delays(1, by={OSError: Delays(2)})) is not None


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ({"NotFound": Delays(1)}, "exception classes and outcomes"),
        ({int: Delays(1)}, "not <class 'int'>"),
        ({Outcome: Delays(1)}, "exception classes and outcomes"),
        ({Snooze: Delays(1)}, "cannot name Snooze"),
        ({NotFound: 60}, r"by\[NotFound\] takes a retry policy such as Delays\(60\), not 60"),
        ({NotFound: Delays}, r"by\[NotFound\] takes a retry policy"),
        ({NotFound: Delays(1, by={OSError: Delays(1)})}, "name them in the outer policy"),
        ([NotFound], "takes a dict"),
    ],
)
def test_a_wrong_class_or_policy_is_refused_where_it_is_written(by: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        Exponential(by=by)
    with pytest.raises(OptionError, match=message):
        Delays(1, by=by)


@pytest.mark.parametrize("attempts", [0, -1, 1.5, "3"])
def test_attempts_are_whole_numbers_from_one(attempts: Any) -> None:
    with pytest.raises(OptionError, match="attempts must be at least 1"):
        Delays(60, attempts=attempts)
    with pytest.raises(OptionError, match="attempts must be at least 1"):
        Exponential(attempts=attempts)


@pytest.mark.parametrize("after", [-1, float("nan"), "5"])
def test_throttled_takes_seconds(after: Any) -> None:
    with pytest.raises(OptionError, match="Throttled takes seconds"):
        Throttled(after)
