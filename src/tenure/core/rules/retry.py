"""How long to wait before the next attempt, and which errors are permanent.

What holds for the classes that a policy names in `by` is in `by_class.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from tenure.core.errors import InputError, OptionError
from tenure.core.outcome import Outcome, Snooze, check_delay

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


By = Mapping[type[BaseException], RetryPolicy]
"""A policy of its own for each of these classes."""


def wait_of(policy: RetryPolicy, attempt: int, random: Random) -> float:
    """What the policy says. It may be a user's own: a moment that has passed is now, and a time
    that no clock can count, which would make the row unreadable, is an error.
    """
    return check_delay("a retry policy", max(0.0, policy.delay(attempt, random)))


def is_permanent(error: BaseException, types: tuple[type[BaseException], ...]) -> bool:
    """Whether the error says `retryable = False`, or has a type that is listed as permanent."""
    if isinstance(error, types):
        return True
    return getattr(error, "retryable", None) is False


def class_named(error: BaseException, by: By, fail_on: tuple[type, ...]) -> type | None:
    """The class in `by` that decides about this error: the most specific one, as in `except`
    clauses ordered from special to general. None if there is none, or if a more specific class is
    permanent. What outcomes share with other exceptions is not meant: `by={Exception: ...}` does
    not retry a NotFound.
    """
    says = vars(error).get("retryable")
    for kind in type(error).__mro__:
        if kind is Outcome or says is False:
            return None
        if kind in by:
            return kind
        if says is None:
            says = vars(kind).get("retryable")
        if kind in fail_on or says is False:
            return None
    return None


def _check(attempts: int, *seconds: float) -> None:
    if type(attempts) is not int or attempts < 1:
        raise OptionError(f"attempts must be at least 1, got {attempts!r}")
    for value in seconds:
        check_delay("a retry policy", value)


def _checked(by: By | None) -> By:
    """A copy, or an OptionError that names the class or the policy that is wrong."""
    if not by:
        return NOTHING
    if not isinstance(by, Mapping):
        raise OptionError(f"by takes a dict from classes to policies, not {by!r}")
    for kind, policy in by.items():
        _check_class(kind)
        named = f"by[{kind.__name__}]"
        if not callable(getattr(policy, "delay", None)) or isinstance(policy, type):
            raise OptionError(f"{named} takes a retry policy such as Delays(60), not {policy!r}")
        if getattr(policy, "by", None):
            raise OptionError(f"{named} has classes of its own; name them in the outer policy")
        _check(getattr(policy, "attempts", 0))
    return dict(by)


def _check_class(kind: object) -> None:
    known = isinstance(kind, type) and issubclass(kind, BaseException)
    if not known or kind in (BaseException, Outcome):
        raise OptionError(
            f"by takes exception classes and outcomes such as NotFound or Throttled, not {kind!r}"
        )
    if issubclass(kind, Snooze):  # type: ignore[arg-type]
        raise OptionError("by cannot name Snooze: it is no failure; use Throttled or Retry instead")


NOTHING: By = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Exponential:
    """Waits between `base` and base·2ⁿ seconds, at most `cap`, at random, so that herds disperse.

    >>> Exponential(base=5, cap=120, attempts=3).delay(1, lambda: 0.0)
    5.0

    `by` gives some failures a policy and a bound of their own:

    >>> policy = Exponential(attempts=5, by={ConnectionError: Delays(60, attempts=20)})
    """

    base: float = 2.0
    cap: float = 1024.0
    attempts: int = 5
    jitter: bool = True
    fail_on: tuple[type[BaseException], ...] = field(default=(InputError,))
    by: By = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        _check(self.attempts, self.base, self.cap)
        object.__setattr__(self, "by", _checked(self.by))

    def delay(self, attempt: int, random: Random) -> float:
        """With jitter uniform in [base, base·2ⁿ]; without, base·2ⁿ⁻¹; never above the cap."""
        growth = min(attempt, 60)  # beyond that every cap is reached, and floats would overflow
        if not self.jitter:
            return min(self.cap, self.base * 2.0 ** (growth - 1))
        top = min(self.cap, self.base * 2.0**growth)
        low = min(self.base, top)
        return low + (top - low) * random()

    def permanent(self, error: BaseException) -> bool:
        """See `is_permanent`; a class that `by` names is not."""
        return is_permanent(error, self.fail_on) and not (
            self.by and class_named(error, self.by, self.fail_on)
        )


@dataclass(frozen=True, slots=True)
class Delays:
    """Waits of a fixed list, e.g. `Delays(60, 300, 900)`: one run more than there are delays.

    With `attempts` there are that many runs instead; beyond the list the last delay repeats.
    """

    seconds: tuple[float, ...]
    attempts: int
    fail_on: tuple[type[BaseException], ...]
    by: By = field(hash=False)

    def __init__(
        self,
        *seconds: float,
        attempts: int | None = None,
        fail_on: tuple[type[BaseException], ...] = (InputError,),
        by: By | None = None,
    ) -> None:
        runs = len(seconds) + 1 if attempts is None else attempts
        _check(runs, *seconds)
        object.__setattr__(self, "seconds", seconds)
        object.__setattr__(self, "attempts", runs)
        object.__setattr__(self, "fail_on", fail_on)
        object.__setattr__(self, "by", _checked(by))

    def delay(self, attempt: int, random: Random) -> float:
        """The delay after this attempt; the last one again beyond the list."""
        if not self.seconds:
            return 0.0
        return self.seconds[min(attempt, len(self.seconds)) - 1]

    def permanent(self, error: BaseException) -> bool:
        """See `is_permanent`; a class that `by` names is not."""
        return is_permanent(error, self.fail_on) and not (
            self.by and class_named(error, self.by, self.fail_on)
        )


NO_RETRY = Delays()
"""One attempt, no retry."""
