"""Queues with counts that are bounded, so that a screen can ask for them every second."""

from __future__ import annotations

from collections import Counter

from tenure.operations.insight import Insight, QueueView
from tenure.stores.contract import Store
from tenure.stores.contract.parts import Load, QueueState


def queue_loads(store: Store, insight: Insight) -> list[QueueView]:
    """Every queue that has open jobs, is paused, or is served by a live worker."""
    loads = {load.queue: load for load in insight.loads()}
    states = {one.name: one for one in store.queues.list() if one.paused}
    slots: Counter[str] = Counter()
    for worker in insight.workers():
        if worker.alive:
            slots.update(worker.queues)
    names = sorted(loads.keys() | states.keys() | slots.keys())
    return [
        _loaded(loads.get(name, Load(queue=name)), states.get(name), slots[name]) for name in names
    ]


def _loaded(load: Load, state: QueueState | None, slots: int) -> QueueView:
    return QueueView(
        name=load.queue,
        queued=load.queued,
        running=load.running,
        oldest_run_at=load.oldest_run_at,
        paused=state is not None,
        due=load.due,
        held=load.held,
        slots=slots,
        paused_by=None if state is None else state.by,
        paused_at=None if state is None else state.since,
        at_least=load.at_least,
    )
