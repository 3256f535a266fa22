"""Which features follow which kinds, here and in other processes."""

from __future__ import annotations

from tenure.stores.contract.parts import Record
from tenure.stores.sql.database import Database
from tenure.stores.sql.parts.records import SqlRecords
from tenure.stores.sql.write.endings import COLLECTION, Endings


class SqlEndings(Endings):
    """See `tenure.stores.contract.endings.EndingStore`."""

    def __init__(self, database: Database) -> None:
        super().__init__(database.dialect.trouble)
        self._records = SqlRecords(database)

    def publish(self) -> None:
        """One record per kind, with the names of its features."""
        for kind in sorted(self.kinds):
            there = self._records.find(COLLECTION, kind)
            known = set() if there is None else set(there.data["features"])
            mine = self.features_of(kind)
            if not mine <= known:
                data = {"features": sorted(known | mine)}
                self._records.upsert(Record(collection=COLLECTION, name=kind, data=data))
