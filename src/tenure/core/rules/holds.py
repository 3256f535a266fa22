"""Holds: jobs of a kind, or of one key within it, do not start before a moment. Plain values.

A hold with probes ends by trying: when its time is over, so many jobs may start, then it holds for
as long again, until somebody releases it or holds it anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from tenure.core.errors import OptionError
from tenure.core.rules.limits import LONGEST_PERIOD, gate_of

LONGEST_REASON = 500
MOST_PROBES = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyHold:
    """A hold of a key, or of a whole kind if `key` is None.

    With `probes`, `until` is when the next jobs may try; it moves on after each try.
    """

    kind: str
    key: str | None
    since: datetime
    until: datetime
    seconds: float
    reason: str
    probes: int = 0

    @property
    def gate(self) -> str:
        """The name of the gate that it closes."""
        return gate_of(self.kind, self.key)

    def lasts(self, now: datetime) -> bool:
        """Whether it still has a say: until its time is over, or somebody releases it."""
        return self.probes > 0 or now < self.until


def new_hold(
    kind: str, key: str | None, *, now: datetime, until: datetime, reason: object, probes: object
) -> KeyHold:
    """A checked hold from now on; OptionError if a value is wrong."""
    seconds = (until - now).total_seconds()
    if seconds <= 0:
        raise OptionError(
            f"a hold must end in the future, not at {until.isoformat()}: it is {now.isoformat()} "
            "now; to let jobs start, call release()"
        )
    if seconds > LONGEST_PERIOD:
        raise OptionError(
            f"a hold may last {LONGEST_PERIOD / 86_400:,.0f} days, not {seconds / 86_400:,.0f}; to "
            "stop jobs for good, pause their queue"
        )
    return KeyHold(
        kind=kind,
        key=key,
        since=now,
        until=until,
        seconds=seconds,
        reason=_checked_reason(reason),
        probes=_checked_probes(probes),
    )


def moment_of(until: datetime | float, now: datetime) -> datetime:
    """When a hold ends that was given as a moment, or as a number of seconds from now."""
    if isinstance(until, datetime):
        return until
    if isinstance(until, bool) or not isinstance(until, int | float) or not -1e10 < until < 1e10:
        raise OptionError(f"until must be a datetime or a number of seconds, not {until!r}")
    return now + timedelta(seconds=until)


def _checked_reason(reason: object) -> str:
    if not isinstance(reason, str) or not reason.strip():
        raise OptionError("a hold needs a reason: `jobs why` shows it to whoever waits")
    if len(reason) > LONGEST_REASON:
        raise OptionError(f"reason has {len(reason)} characters; at most {LONGEST_REASON} are kept")
    if not all(character.isprintable() for character in reason):
        raise OptionError(f"reason {reason!r} holds a control character or a line break")
    return reason


def _checked_probes(probes: object) -> int:
    if type(probes) is not int or not 0 <= probes <= MOST_PROBES:
        raise OptionError(
            f"probes must be a whole number from 0 (none) to {MOST_PROBES:,}, not {probes!r}"
        )
    return probes
