"""How long a loop waits before its next turn: short after work, longer and longer when idle."""

from __future__ import annotations

from dataclasses import dataclass

from tenure.core.rules.retry import Random


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Bounds in seconds. The caller counts idle or failed turns in a row."""

    busy: float
    idle_min: float
    idle_max: float
    idle_jitter: float
    error: float
    error_jitter: float

    def after_work(self, random: Random) -> float:
        """The wait after a turn that did work."""
        return self.busy + self.idle_jitter * random() * (self.busy > 0)

    def after_idle(self, turns: int, random: Random) -> float:
        """The wait after `turns` idle turns in a row, counted from 1."""
        doubled = self.idle_min * 2.0 ** min(turns - 1, 30)
        return min(self.idle_max, doubled) + self.idle_jitter * random()

    def after_error(self, random: Random) -> float:
        """The wait after a turn that failed."""
        return self.error + self.error_jitter * random()
