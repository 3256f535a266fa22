"""What a worker asks the store for: its kinds and slots, and the rules that hold for the fleet."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from tenure.app import Tenure
from tenure.core.rules.limits import Limits
from tenure.core.rules.shares import NO_WEIGHTS, Weights
from tenure.jobs.published_handlers import PublishedHandler
from tenure.operations.queue_options import AS_USUAL
from tenure.stores.contract import ClaimRequest
from tenure.worker.assignment import Assignment
from tenure.worker.running.slots import Slots


class ClaimTerms:
    """Weights, limits and queue options are those of the last `refresh`. `only` narrows the kinds
    for the time of one runner; kinds in `left` need a feature that this app does not have.
    """

    def __init__(self, app: Tenure, owner: str, assignment: Assignment, slots: Slots) -> None:
        self._app = app
        self._owner = owner
        self._assignment = assignment
        self._slots = slots
        self.only: Collection[str] | None = assignment.kinds
        self.weights: Weights = NO_WEIGHTS
        self.limits: Limits = app.limits.declared()
        self.unfair: frozenset[str] = frozenset()
        self.left: frozenset[str] = frozenset()
        self._limits_seen: Limits | None = None

    @property
    def kinds(self) -> Collection[str]:
        """The kinds that this worker runs."""
        kinds = self._app.handlers.kinds if self.only is None else self.only
        return [kind for kind in kinds if kind not in self.left] if self.left else kinds

    def request(
        self, room: dict[str, int], woken: frozenset[str] = frozenset(), *, thorough: bool
    ) -> ClaimRequest:
        """A claim for this much room. What cannot begin at once is reserved."""
        self._note_rates()
        return ClaimRequest(
            owner=self._owner,
            kinds=self.kinds,
            slots=room,
            lease_seconds=self._assignment.lease_seconds,
            weights=self.weights,
            limits=self.limits,
            woken=woken,
            thorough=thorough,
            shard=self._assignment.shard,
            reserving=self._slots.reserving(room),
            unfair=self.unfair,
        )

    def refresh(self, published: Mapping[str, PublishedHandler]) -> None:
        """Read what operators have set. `published` holds what other releases declare."""
        self.weights = self._app.tenants.weights()
        self.limits = self._app.limits.for_worker(self._app.tenants.caps(), published)
        options = self._app.queues.in_force()
        self.unfair = frozenset(name for name, one in options.items() if not one.fair)
        for queue, line in self._slots.lines.items():
            line.prefetch = options.get(queue, AS_USUAL).prefetch

    def _note_rates(self) -> None:
        """Queues with rated kinds claim nothing ahead: a rate counts what begins."""
        if self.limits is self._limits_seen:
            return
        self._limits_seen = self.limits
        handlers = [self._app.handlers.get(kind) for kind in self.limits.rated]
        rated = {one.options.queue for one in handlers if one is not None}
        for queue, line in self._slots.lines.items():
            line.rated = queue in rated
