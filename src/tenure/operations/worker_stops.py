"""Requests to stop a worker: a record that the worker reads when it reports itself."""

from __future__ import annotations

from tenure.operations.insight import WORKERS
from tenure.stores.contract import Store
from tenure.stores.contract.parts import Record

WORKER_STOPS = "worker_stops"


def ask_to_stop(store: Store, worker_id: str, actor: str) -> bool:
    """Leave the request; False if there is no such worker."""
    if store.records.find(WORKERS, worker_id) is None:
        return False
    store.records.upsert(Record(collection=WORKER_STOPS, name=worker_id, data={"actor": actor}))
    return True


def asked_to_stop(store: Store, worker_id: str) -> bool:
    """Whether there is a request for this worker."""
    return store.records.find(WORKER_STOPS, worker_id) is not None


def forget_stop(store: Store, worker_id: str) -> None:
    """The worker has stopped, or was killed before it could."""
    store.records.remove(WORKER_STOPS, worker_id)
