"""When a failed delivery is tried again: doubling waits and a little chance on top."""

from __future__ import annotations

from dataclasses import dataclass

from tenure.core.errors import InputError
from tenure.core.rules.retry import Random, is_permanent


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """base, 2·base, 4·base … seconds, at most `cap`, and up to `spread` more.

    >>> Backoff(base=5, cap=120, spread=0.5, attempts=3).delay(2, lambda: 0.5)
    10.25
    """

    base: float
    cap: float
    spread: float
    attempts: int

    def delay(self, attempt: int, random: Random) -> float:
        """After the failed attempt of this number, from 1."""
        growth = min(attempt - 1, 60)
        return min(self.cap, self.base * 2.0**growth) + self.spread * random()

    def permanent(self, error: BaseException) -> bool:
        """An error with `retryable = False`, or input that stays wrong."""
        return is_permanent(error, (InputError,))
