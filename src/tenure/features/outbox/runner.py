"""The runner `outbox`: the jobs runner limited to events, where it is named alone."""

from __future__ import annotations

from tenure.core.timing.budget import Budget
from tenure.features.outbox.dispatch import DISPATCH
from tenure.features.outbox.settings import OutboxSettings
from tenure.features.outbox.subscriptions import Subscriptions


class OutboxRunner:
    """See `tenure.worker.assignment.JobsRunner`. By itself it only writes down who subscribes."""

    name = "outbox"

    def __init__(self, subscriptions: Subscriptions, settings: OutboxSettings) -> None:
        self._subscriptions = subscriptions
        self.lease_seconds = settings.lease_duration_ms / 1000
        self.renew_seconds = settings.lease_heartbeat_ms / 1000

    @property
    def kinds(self) -> tuple[str, ...]:
        """Events to dispatch, and the deliveries that this program can make."""
        declared = self._subscriptions.declared.values()
        return (DISPATCH, *(one.kind for rows in declared for one in rows.values()))

    def run(self, budget: Budget) -> int:
        """Nothing that counts: jobs are done by the jobs runner."""
        self._subscriptions.register()
        return 0
