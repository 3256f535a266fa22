"""Queues with counts that are bounded, so that a screen can ask for them every second."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tenure.operations.insight import Insight, QueueView
from tenure.operations.pauses import Pause, pauses
from tenure.stores.contract import Store
from tenure.stores.contract.parts import Load


def queue_loads(store: Store, insight: Insight, declared: Iterable[str] = ()) -> list[QueueView]:
    """These, and every queue with open jobs, with a pause, or of a live worker: one that it serves,
    or that its code declares.
    """
    loads = {load.queue: load for load in insight.loads()}
    states = pauses(store)
    named, slots = set(declared), Counter[str]()
    for worker in insight.workers():
        if worker.alive:
            slots.update(worker.queues)
            named.update(worker.queue_options)
    names = sorted(named | loads.keys() | states.keys() | slots.keys())
    return [
        _loaded(loads.get(name, Load(queue=name)), states.get(name), slots[name]) for name in names
    ]


def _loaded(load: Load, state: Pause | None, slots: int) -> QueueView:
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
        paused_at=None if state is None else state.at,
        paused_reason=None if state is None else state.reason,
        at_least=load.at_least,
    )
