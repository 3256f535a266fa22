"""Small records that expire. New ones remove some expired ones, so no job has to."""

from __future__ import annotations

import threading
from datetime import timedelta

from tenure.app import Tenure
from tenure.stores.contract.parts import Record

# Twice as many as are added between two sweeps: the collection cannot grow without end.
SWEPT_AT_ONCE = 20
SWEEP_EVERY = 10


class ExpiringRecords:
    """Records of one collection, in the engine's database."""

    def __init__(self, engine: Tenure, collection: str, seconds: float) -> None:
        self._engine = engine
        self._collection = collection
        self._life = timedelta(seconds=seconds)
        self._lock = threading.Lock()
        self._since = 0
        self._position = ""

    def find(self, name: str) -> Record | None:
        """A record, expired or not."""
        return self._engine.store.records.find(self._collection, name)

    def good(self, record: Record | None) -> bool:
        """Whether it is there and has not expired."""
        if record is None or record.updated_at is None:
            return False
        return self._engine.store.now() - record.updated_at < self._life

    def record(self, name: str, data: dict[str, object], version: int = 0) -> Record:
        """A record for the caller to write, in a transaction of their own."""
        return Record(collection=self._collection, name=name, data=data, version=version)

    def sweep(self) -> None:
        """Every tenth call looks at the next few records and removes expired ones."""
        if (after := self._turn()) is None:
            return
        records = self._engine.store.records
        found = records.list(self._collection, after, SWEPT_AT_ONCE)
        with self._lock:
            self._position = found[-1].name if len(found) == SWEPT_AT_ONCE else ""
        for record in found:
            if not self.good(record):
                records.remove(self._collection, record.name)

    def _turn(self) -> str | None:
        with self._lock:
            self._since += 1
            if self._since < SWEEP_EVERY:
                return None
            self._since = 0
            return self._position
