"""When to try again, and whether it is worth it."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.core.errors import InputError, KeyConflict, OptionError, StoreUnavailable
from tenure.core.rules.retry import NO_RETRY, Delays, Exponential, is_permanent

RANDOM = st.floats(0, 1, exclude_max=True)
SECONDS = st.floats(0, 10_000)


class SaysNo(Exception):
    retryable = False


class SaysYes(Exception):
    retryable = True


@pytest.mark.parametrize(
    ("error", "permanent"),
    [
        (ValueError(), False),
        (SaysNo(), True),
        (SaysYes(), False),
        (InputError(), True),
        (KeyConflict("kind", "key", "1"), True),
        (StoreUnavailable(), False),
        (KeyboardInterrupt(), False),
    ],
)
def test_an_error_is_classified(error: BaseException, permanent: bool) -> None:
    assert Exponential().permanent(error) is permanent
    assert Delays(1).permanent(error) is permanent


def test_a_policy_names_the_types_that_are_permanent() -> None:
    policy = Exponential(fail_on=(LookupError,))

    assert policy.permanent(KeyError("x"))
    assert not policy.permanent(ValueError("x"))
    assert not is_permanent(KeyError("x"), ())


@pytest.mark.parametrize(("attempt", "seconds"), [(1, 2), (2, 4), (5, 32), (10, 1024), (99, 1024)])
def test_without_jitter_the_wait_doubles_up_to_the_cap(attempt: int, seconds: float) -> None:
    assert Exponential(base=2, cap=1024, jitter=False).delay(attempt, lambda: 0.9) == seconds


@pytest.mark.parametrize(("random", "seconds"), [(0.0, 5), (0.5, 12.5), (0.999999, 20)])
def test_with_jitter_the_wait_is_spread(random: float, seconds: float) -> None:
    found = Exponential(base=5, cap=120).delay(2, lambda: random)

    assert found == pytest.approx(seconds, rel=1e-4)


@given(SECONDS, SECONDS, st.integers(1, 10_000), RANDOM, st.booleans())
def test_a_wait_is_between_base_and_cap(
    base: float, cap: float, attempt: int, random: float, jitter: bool
) -> None:
    found = Exponential(base=base, cap=cap, jitter=jitter).delay(attempt, lambda: random)

    assert min(base, cap) <= found <= cap


@given(st.integers(1, 200), RANDOM)
def test_the_longest_wait_never_shrinks(attempt: int, random: float) -> None:
    policy = Exponential(base=3, cap=500)

    assert policy.delay(attempt + 1, lambda: random) >= policy.delay(attempt, lambda: random)


def test_steps_are_taken_one_after_another() -> None:
    policy = Delays(60, 300, 900)

    assert policy.attempts == 4
    assert [policy.delay(attempt, lambda: 0.5) for attempt in range(1, 6)] == [
        60, 300, 900, 900, 900,
    ]  # fmt: skip


def test_no_retry_is_one_run() -> None:
    assert NO_RETRY.attempts == 1
    assert NO_RETRY.delay(1, lambda: 0.5) == 0


@pytest.mark.parametrize(
    "options",
    [
        {"attempts": 0},
        {"attempts": -1},
        {"base": -1},
        {"cap": -0.1},
        {"cap": math.inf},
        {"base": math.nan},
        {"base": "60"},
    ],
)
def test_a_policy_that_cannot_be_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        Exponential(**options)


@pytest.mark.parametrize("seconds", [-1, math.nan, math.inf, 1e300, "60", None, True])
def test_steps_that_no_clock_can_count_are_refused(seconds: Any) -> None:
    with pytest.raises(OptionError, match="seconds from 0 to ten years"):
        Delays(1, seconds)
