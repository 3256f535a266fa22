"""Events in numbers: how many are in which status, and how many nobody wanted."""

from __future__ import annotations

import time
from collections import Counter as Tally
from typing import TYPE_CHECKING

from tenure.core.filter import JobFilter
from tenure.core.signals import Signals
from tenure.feature import Counter, Facts, Gauge
from tenure.features.outbox.dispatch import DISPATCH
from tenure.features.outbox.view import STATUS, Status

if TYPE_CHECKING:
    from tenure.app import Tenure
    from tenure.features.outbox.subscriptions import Subscriptions

FRESH_SECONDS = 5.0
# SENT is left out: it is all of history, and counting it would cost more with every event.
COUNTED = (Status.PENDING, Status.PROCESSING, Status.FAILED)


class OutboxMetrics:
    """Counts events without subscriber from now on; the others are read from the database."""

    def __init__(self, app: Tenure, subscriptions: Subscriptions) -> None:
        self._app = app
        self._subscriptions = subscriptions
        self._seen: tuple[float, dict[str, float]] | None = None
        self.unhandled = Counter(
            "outbox_unhandled_total", "looks at events that nobody subscribes to"
        )
        self.events = Gauge(
            "outbox_events",
            "events that are not SENT, one for each subscriber",
            "status",
            read=self._read,
        )

    def listen(self, signals: Signals) -> None:
        """Subscribe to what dispatching says."""
        signals.subscribe(self._unhandled, "outbox.unhandled")

    def _unhandled(self, _: str, facts: Facts) -> None:
        self.unhandled.add()

    def _read(self) -> dict[str, float]:
        """Scrapes that come together share one look."""
        now = time.monotonic()
        if self._seen is None or now - self._seen[0] >= FRESH_SECONDS:
            self._seen = now, by_status(self._app, self._subscriptions)
        return self._seen[1]


def by_status(app: Tenure, subscriptions: Subscriptions) -> dict[str, float]:
    """How many rows of the view are in each status but SENT."""
    kinds = (DISPATCH, *(one.kind for one in subscriptions.all()))
    states = tuple(state for state, status in STATUS.items() if status in COUNTED)
    found: Tally[str] = Tally({str(status): 0 for status in COUNTED})
    for state, count in app.insight.counts(JobFilter(kinds=kinds, states=states)).items():
        found[str(STATUS[state])] += count
    return dict(found)
