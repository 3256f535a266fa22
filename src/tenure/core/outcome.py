"""How a run ended: outcomes that a handler chooses, and endings that it does not choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tenure.core.errors import OptionError
from tenure.core.failure import Failure

TEN_YEARS = 10 * 366 * 86_400.0


def check_delay(name: str, seconds: object) -> float:
    """Check a wait: a number of seconds that a database can store."""
    number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if not number or not 0 <= seconds <= TEN_YEARS:  # type: ignore[operator]
        raise OptionError(f"{name} takes seconds from 0 to ten years, not {seconds!r}")
    return float(seconds)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Done:
    """The handler returned. `result` is JSON text, or None."""

    result: str | None = None


class Outcome(Exception):
    """An ending that a handler chooses by returning or raising it."""

    def __init__(self, message: str = "", *, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self._described: Failure | None = None
        self.bound_name: str | None = None
        """The class of the retry policy's `by` that it belongs to, if that was found already."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle only what the worker needs, whatever a subclass holds."""
        plain = next(kind for kind in type(self).__mro__ if kind.__module__ == __name__)
        known = ("message", "code", "delay", "seconds", "after", "bound_name")
        facts = {name: getattr(self, name) for name in known if hasattr(self, name)}
        return _received, (plain, self.args[:1], {**facts, "_described": self.failure})

    @property
    def failure(self) -> Failure:
        """The entry for the job's history."""
        if self._described is not None:
            return self._described
        cause = self.__cause__
        if cause is not None:
            described = Failure.of(cause)
            return Failure(
                type=described.type,
                message=self.message or described.message,
                code=self.code or described.code,
                traceback=described.traceback,
            )
        return Failure(type=type(self).__name__, message=self.message, code=self.code)


def _received(plain: type[Outcome], args: tuple[Any, ...], facts: dict[str, Any]) -> Outcome:
    outcome = plain.__new__(plain, *args)
    outcome.__dict__.update(facts)
    return outcome


class Retry(Outcome):
    """Try again: after `delay` seconds, or as the retry policy says."""

    def __init__(
        self, message: str = "", *, delay: float | None = None, code: str | None = None
    ) -> None:
        super().__init__(message, code=code)
        self.delay = None if delay is None else check_delay("Retry", delay)


class Fail(Outcome):
    """A permanent error: no further attempt."""


class Snooze(Outcome):
    """Not yet: run again after `seconds`. Costs no attempt; the number of snoozes is bounded."""

    def __init__(self, seconds: float, message: str = "") -> None:
        super().__init__(message)
        self.seconds = check_delay("Snooze", seconds)


class Throttled(Outcome):
    """Somebody asks us to slow down: run again after `after` seconds, such as a `Retry-After`, or
    as the retry policy says. Costs neither an attempt nor a snooze.
    """

    def __init__(
        self, after: float | None = None, message: str = "", *, code: str | None = None
    ) -> None:
        super().__init__(message, code=code)
        self.after = None if after is None else check_delay("Throttled", after)


class NotFound(Outcome):
    """What the job is about does not exist."""


class Skip(Outcome):
    """There is nothing to do."""


class Cancel(Outcome):
    """Cancel the job."""


@dataclass(frozen=True, slots=True)
class Raised:
    """The handler raised another exception; the retry policy decides what follows."""

    error: BaseException


@dataclass(frozen=True, slots=True)
class TimedOut:
    """The handler ran longer than its timeout."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Released:
    """The worker gives the job back unfinished, because it is shutting down."""


@dataclass(frozen=True, slots=True)
class Returned:
    """The job was claimed and never started: it returns to its position in the queue."""


@dataclass(frozen=True, slots=True)
class Crashed:
    """The process that ran only this job died."""

    how: str


Ending = Done | Outcome | Raised | TimedOut | Released | Returned | Crashed
"""Everything a run can end with. `rules/run_again.py` turns it into a settlement."""


def as_ending(value: Any, encode: Any) -> Ending:
    """A handler's return value as an ending: an Outcome as it is, anything else as a result."""
    if isinstance(value, Outcome):
        return value
    return Done(None if value is None else encode(value))
