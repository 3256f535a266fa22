"""How many jobs of a kind, a key or a tenant may run at a time, and how fast they may start.

Rules over plain values: who counts and who keeps the tokens is the store's business. A limit is
enforced at a gate, and a gate has a name: the kind, or the kind and a key.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from tenure.core.errors import OptionError

SEPARATOR = "\x1f"
BEHIND_KEYS = "\x20"
BEHIND_NAME = "\x01"
MOST_RUNNING = 1_000_000
MOST_RATE = 1_000_000.0
LONGEST_PERIOD = 366 * 86_400.0
SLOWEST = 0.1 / LONGEST_PERIOD
"""A slower rate would make claims wait longer than a clock can count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """At most `running` at a time; at most `rate` starts in `per` seconds, `burst` of them at once.

    >>> Limit(running=10)
    >>> Limit(rate=100)                  # starts a second, ten of them at once
    >>> Limit(rate=50, per=60, burst=5)  # fifty a minute, five of them at once
    """

    running: int | None = None
    rate: float | None = None
    per: float = 1.0
    burst: int | None = None

    def __post_init__(self) -> None:
        """Refuse values that cannot be enforced."""
        if self.running is None and self.rate is None:
            raise OptionError("a limit needs `running` (jobs at a time) or `rate` (starts)")
        if self.running is not None:
            _check_count("running", self.running)
        if self.burst is not None:
            _check_count("burst", self.burst)
            if self.rate is None:
                raise OptionError("`burst` belongs to a `rate`")
        if self.rate is not None:
            _check_number("rate", self.rate, MOST_RATE)
        _check_number("per", self.per, LONGEST_PERIOD)
        if self.rate is not None and self.each_second < SLOWEST:
            raise OptionError(
                f"rate must allow at least one start in ten years, not {self.rate!r} in "
                f"{self.per!r} s; to stop all jobs, hold their kind"
            )

    @property
    def each_second(self) -> float:
        """Tokens that come back in a second; 0 without a rate."""
        return 0.0 if self.rate is None else self.rate / self.per

    @property
    def bucket(self) -> int:
        """The most tokens there can be: the burst, or a tenth of a second's worth."""
        return self.burst or max(1, round(self.each_second / 10))

    def refilled(self, tokens: float, seconds: float) -> float:
        """The tokens after so many seconds."""
        return min(float(self.bucket), tokens + max(0.0, seconds) * self.each_second)

    def wait_for(self, tokens: float) -> float:
        """Seconds until asking again is worthwhile: for 50 ms worth of tokens, at least one."""
        wanted = max(1.0, min(self.bucket / 2, self.each_second / 20))
        return max(0.0, wanted - tokens) / self.each_second if self.rate else 0.0


class Closed(NamedTuple):
    """A hold as a claim sees it: until when, on the clock of the claims, and its probes."""

    ends_at: float
    probes: int = 0


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The limits of the kinds that a worker knows, of keys within them, and of tenants.

    `keys` holds for each key of a kind. `one_key` and `holds` are by gate; claims know them by
    themselves. Kinds in `begins` have a key with a rate or with probes.
    """

    kinds: Mapping[str, Limit] = field(default_factory=dict)
    keys: Mapping[str, Limit] = field(default_factory=dict)
    tenants: Mapping[str, int] = field(default_factory=dict)
    one_key: Mapping[str, Limit] = field(default_factory=dict)
    holds: Mapping[str, Closed] = field(default_factory=dict)
    begins: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.holds) or self.counting

    @property
    def counting(self) -> bool:
        """Whether anything but a hold is to be heeded."""
        return bool(self.kinds or self.keys or self.tenants or self.one_key)

    @cached_property
    def rated(self) -> frozenset[str]:
        """Kinds of which only so many may begin in a time. They are not claimed ahead: a token is
        taken by a claim, and the handler must begin at that moment.
        """
        limits = (*self.kinds.items(), *self.keys.items())
        return self.begins.union(kind for kind, limit in limits if limit.rate is not None)

    def gates(self, kind: str, name: str | None) -> list[str]:
        """The gates that a job has to pass; `name` is the `limit_key` of its row."""
        found = [kind] if kind in self.kinds else []
        if name is not None and SEPARATOR in name and (kind in self.keys or name in self.one_key):
            found.append(name)
        return found

    def at(self, gate: str) -> Limit | None:
        """The limit at a gate; None if there is none, or no longer. A key's own limit overrides
        the one for each key of its kind.
        """
        kind, separator, _ = gate.partition(SEPARATOR)
        if not separator:
            return self.kinds.get(kind)
        return self.one_key.get(gate) or self.keys.get(kind)

    def held(self, gate: str) -> list[str]:
        """The holds that a job at this gate meets: of its key, and of its kind."""
        return [one for one in {gate, kind_of(gate)} if one in self.holds] if self.holds else []

    def closed(self, gate: str, now: float) -> bool:
        """Whether nobody may pass: the time of a hold is not over."""
        return any(now < self.holds[one].ends_at for one in self.held(gate))

    def concerns(self, gate: str) -> bool:
        """Whether jobs at this gate may have to wait. If not, those that are parked go on."""
        return bool(self.at(gate) or self.at(kind_of(gate)) or self.held(gate))


NO_LIMITS = Limits()


def check_limit(limit: object) -> None:
    """Raise OptionError unless it is a Limit."""
    if not isinstance(limit, Limit):
        raise OptionError(f"a limit is a tenure.Limit, not {limit!r}")


def gate_of(kind: str, key: str | None) -> str:
    """The name of the gate of a kind, or of a key within it. No name has a control character."""
    return kind if key is None else f"{kind}{SEPARATOR}{key}"


def kind_of(gate: str) -> str:
    """The kind that a gate belongs to."""
    return gate.partition(SEPARATOR)[0]


def behind(gate: str) -> str:
    """The first name behind this gate. Jobs of a key count at their kind's gate too."""
    return gate + (BEHIND_NAME if SEPARATOR in gate else BEHIND_KEYS)


def check_cap(jobs: object) -> int:
    """How many jobs of a tenant may run at a time."""
    return _check_count("the cap of a tenant", jobs)


def _check_count(name: str, value: object) -> int:
    if type(value) is not int or not 1 <= value <= MOST_RUNNING:
        raise OptionError(
            f"{name} must be a whole number from 1 to {MOST_RUNNING:,}, not {value!r}; to stop "
            "all jobs, pause their queue"
        )
    return value


def _check_number(name: str, value: object, most: float) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or not 0 < value <= most:  # type: ignore[arg-type,operator]
        raise OptionError(
            f"{name} must be a number above 0 and up to {most:,.0f}, not {value!r}; to stop all "
            "jobs, pause their queue"
        )
