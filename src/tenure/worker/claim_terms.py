"""What a worker asks the store for: its kinds and slots, and the rules that hold for the fleet."""

from __future__ import annotations

from collections.abc import Collection

from tenure.app import Tenure
from tenure.core.rules.limits import Limits
from tenure.core.rules.shares import NO_WEIGHTS, Weights
from tenure.stores.contract import ClaimRequest
from tenure.worker.running.slots import Slots
from tenure.worker.scope import Scope


class ClaimTerms:
    """Weights, limits and options of queues are those of the last sign-in; `only` narrows the
    kinds.
    """

    def __init__(self, app: Tenure, owner: str, scope: Scope) -> None:
        self._app = app
        self._owner = owner
        self._scope = scope
        self.only: Collection[str] | None = scope.kinds
        self.weights: Weights = NO_WEIGHTS
        self.limits: Limits = app.limits.declared()
        self.unfair: frozenset[str] = frozenset()
        self._limits_seen: Limits | None = None

    @property
    def kinds(self) -> Collection[str]:
        """What this worker runs."""
        return self._app.handlers.kinds if self.only is None else self.only

    def request(
        self, slots: Slots, room: dict[str, int], woken: frozenset[str], *, thorough: bool
    ) -> ClaimRequest:
        """A claim for so much room; more than can begin at once is reserved."""
        self._limit_lanes(slots)
        return ClaimRequest(
            owner=self._owner,
            kinds=self.kinds,
            slots=room,
            lease_seconds=self._scope.lease_seconds,
            weights=self.weights,
            limits=self.limits,
            woken=woken,
            thorough=thorough,
            shard=self._scope.shard,
            reserving=slots.reserving(room),
            unfair=self.unfair,
        )

    def _limit_lanes(self, slots: Slots) -> None:
        """Queues with kinds that have a rate claim nothing ahead: it holds for what begins."""
        if self.limits is self._limits_seen:
            return
        self._limits_seen = self.limits
        handlers = [self._app.handlers.get(kind) for kind in self.limits.rated]
        rated = {one.options.queue for one in handlers if one is not None}
        for queue, lane in slots.lanes.items():
            lane.rated = queue in rated
