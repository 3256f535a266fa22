"""How long to wait before the next attempt, and which errors are permanent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from tenure.core.errors import InputError, OptionError

Random = Callable[[], float]
"""Returns a number in [0, 1). Passed in, so that delays can be tested."""


class RetryPolicy(Protocol):
    """How many attempts a job gets, and how long it waits between them."""

    @property
    def attempts(self) -> int:
        """The most runs a job gets."""
        ...

    def delay(self, attempt: int, random: Random) -> float:
        """Seconds to wait after the failed attempt number `attempt` (from 1)."""
        ...

    def permanent(self, error: BaseException) -> bool:
        """Whether another attempt cannot help."""
        ...


def is_permanent(error: BaseException, types: tuple[type[BaseException], ...]) -> bool:
    """Whether the error says `retryable = False`, or has a type that is listed as permanent."""
    if isinstance(error, types):
        return True
    return getattr(error, "retryable", None) is False


def _check(attempts: int, *seconds: float) -> None:
    if attempts < 1:
        raise OptionError(f"attempts must be at least 1, got {attempts}")
    if any(value < 0 for value in seconds):
        raise OptionError("retry delays cannot be negative")


@dataclass(frozen=True, slots=True, kw_only=True)
class Exponential:
    """Waits between `base` and base·2ⁿ seconds, at most `cap`, at random, so that herds disperse.

    >>> Exponential(base=5, cap=120, attempts=3).delay(1, lambda: 0.0)
    5.0
    """

    base: float = 2.0
    cap: float = 1024.0
    attempts: int = 5
    jitter: bool = True
    fail_on: tuple[type[BaseException], ...] = field(default=(InputError,))

    def __post_init__(self) -> None:
        _check(self.attempts, self.base, self.cap)

    def delay(self, attempt: int, random: Random) -> float:
        """With jitter uniform in [base, base·2ⁿ]; without, base·2ⁿ⁻¹; never above the cap."""
        growth = min(attempt, 60)  # beyond that every cap is reached, and floats would overflow
        if not self.jitter:
            return min(self.cap, self.base * 2.0 ** (growth - 1))
        top = min(self.cap, self.base * 2.0**growth)
        low = min(self.base, top)
        return low + (top - low) * random()

    def permanent(self, error: BaseException) -> bool:
        """See `is_permanent`."""
        return is_permanent(error, self.fail_on)


@dataclass(frozen=True, slots=True)
class Delays:
    """Waits of a fixed list, e.g. `Delays(60, 300, 900)`: one run more than there are delays."""

    seconds: tuple[float, ...]
    fail_on: tuple[type[BaseException], ...]

    def __init__(
        self, *seconds: float, fail_on: tuple[type[BaseException], ...] = (InputError,)
    ) -> None:
        _check(1, *seconds)
        object.__setattr__(self, "seconds", seconds)
        object.__setattr__(self, "fail_on", fail_on)

    @property
    def attempts(self) -> int:
        """The first run and one after each delay."""
        return len(self.seconds) + 1

    def delay(self, attempt: int, random: Random) -> float:
        """The delay after this attempt; the last one again beyond the list."""
        if not self.seconds:
            return 0.0
        return self.seconds[min(attempt, len(self.seconds)) - 1]

    def permanent(self, error: BaseException) -> bool:
        """See `is_permanent`."""
        return is_permanent(error, self.fail_on)


NO_RETRY = Delays()
"""One attempt, no retry."""
