"""Slots that fired or were left out, counted."""

from __future__ import annotations

from tenure.core.signals import Signals
from tenure.feature import Counter, Facts


class ScheduleMetrics:
    """Counts from now on, in this process."""

    def __init__(self) -> None:
        self.fired = Counter("schedule_fired_total", "slots of schedules that fired here")
        self.dropped = Counter("schedule_dropped_total", "slots of schedules that were left out")

    def listen(self, signals: Signals) -> None:
        """Subscribe to what the runner says."""
        signals.subscribe(self._fired, "schedule.fired")
        signals.subscribe(self._dropped, "schedule.dropped")

    def _fired(self, _: str, facts: Facts) -> None:
        self.fired.add()

    def _dropped(self, _: str, facts: Facts) -> None:
        self.dropped.add(facts["slots"])
