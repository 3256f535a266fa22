"""Failures whose class has a bound of its own: those that a policy names in `by`, and Throttled.

Such a failure is counted by its class, in the job's history, and its attempt is refunded: it spends
neither the job's attempts nor the bound of another class. Pure; `run_again.py` settles it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from tenure.core.failure import Failure
from tenure.core.lease import ClaimedJob
from tenure.core.outcome import (
    Cancel,
    Ending,
    Fail,
    NotFound,
    Outcome,
    Raised,
    Skip,
    Snooze,
    Throttled,
    TimedOut,
)
from tenure.core.rules.retry import By, Exponential, Random, RetryPolicy, class_named, wait_of

Counts = Mapping[str, int]
"""How often a job has failed by each class."""
NO_COUNTS: Counts = {}
THROTTLED = "Throttled"
PACE = Exponential(base=1.0, cap=60.0)
"""How long a throttled run waits if neither it nor its policy says so."""
ENTRIES = {NotFound: "not_found", Skip: "skipped", Cancel: "canceled", Fail: "failed"}


class Bound(NamedTuple):
    """The name under which a class counts, and its policy; None for Throttled without one."""

    name: str
    policy: RetryPolicy | None

    def reached(self, count: int) -> bool:
        """Whether this failure is the last one."""
        return self.policy is not None and count >= self.policy.attempts

    def told(self, count: int) -> str:
        """As history shows it."""
        return f"{self.name} {count}" + (f" of {self.policy.attempts}" if self.policy else "")

    def delay(self, ending: Ending, count: int, random: Random) -> float:
        """What the outcome asks for; else what the policy says after that many failures."""
        asked = getattr(ending, "after", None) if isinstance(ending, Throttled) else None
        if asked is None:
            asked = getattr(ending, "delay", None) if isinstance(ending, Outcome) else None
        return wait_of(self.policy or PACE, count, random) if asked is None else float(asked)


def name_of(policy: RetryPolicy, error: BaseException) -> str:
    """The name of the class in `by` that decides about this error; empty if there is none.

    It is found where the error was raised: the class may not exist in another process.
    """
    by: By = getattr(policy, "by", {})
    kind = class_named(error, by, getattr(policy, "fail_on", ()))
    return "" if kind is None else _names(by)[kind]


def bound_of(policy: RetryPolicy, ending: Ending) -> Bound | None:
    """The bound that this failure counts against, or None if the job's attempts are its bound."""
    by: By = getattr(policy, "by", {})
    if not by:
        return Bound(THROTTLED, None) if isinstance(ending, Throttled) else None
    error = _error(ending)
    if error is None:
        return None
    known = getattr(error, "bound_name", None)
    name = name_of(policy, error) if known is None else known
    for kind, own in _names(by).items():
        if own == name:
            return Bound(name, by[kind])
    return Bound(THROTTLED, None) if isinstance(ending, Throttled) else None


def needs_counts(job: ClaimedJob, ending: Ending, policy: RetryPolicy, most_snoozes: int) -> bool:
    """Whether the decision depends on earlier failures, which history has. A first run has none."""
    if job.lease.fence <= 1:
        return False
    if isinstance(ending, Snooze):
        return job.snoozes >= most_snoozes
    return bound_of(policy, ending) is not None


def counted(bound: Bound, counts: Counts, failure: Failure) -> tuple[int, Failure]:
    """This failure as one more of its class; the newest line of history has the counts of all."""
    count = counts.get(bound.name, 0) + 1
    return count, replace(failure, bound=bound.told(count), counts={**counts, bound.name: count})


def entry_of(ending: Ending) -> str:
    """The word for history where the run is not the last."""
    if isinstance(ending, TimedOut):
        return "timeout"
    if isinstance(ending, Throttled):
        return "throttled"
    return next((word for kind, word in ENTRIES.items() if isinstance(ending, kind)), "error")


def _error(ending: Ending) -> BaseException | None:
    match ending:
        case Raised(error):
            return error
        case TimedOut():
            return TimeoutError()
        case Snooze():
            return None
        case Outcome():
            return ending
        case _:
            return None


def _names(by: By) -> dict[type[BaseException], str]:
    """Plain names; with their modules where two classes share one."""
    plain = [kind.__name__ for kind in by]
    return {kind: kind.__name__ if plain.count(kind.__name__) == 1 else _full(kind) for kind in by}


def _full(kind: type[BaseException]) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
