"""Which features follow which kinds, here and in other processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tenure.stores.contract.endings import FOLLOWED_KINDS
from tenure.stores.contract.parts import Record, every
from tenure.stores.sql.database import Database
from tenure.stores.sql.endings.endings import Endings
from tenure.stores.sql.parts.records import SqlRecords


class SqlEndings(Endings):
    """See `tenure.stores.contract.endings.EndingStore`."""

    def __init__(self, database: Database) -> None:
        super().__init__(database.dialect.trouble)
        self._records = SqlRecords(database)

    def publish(self) -> Mapping[str, Sequence[str]]:
        """One record per kind, with the names of its features."""
        there = {
            one.name: set(one.data["features"]) for one in every(self._records, FOLLOWED_KINDS)
        }
        for kind in sorted(self.kinds):
            mine, known = self.features_of(kind), there.get(kind, set())
            if not mine <= known:
                data = {"features": sorted(known | mine)}
                self._records.upsert(Record(collection=FOLLOWED_KINDS, name=kind, data=data))
        missing = {kind: sorted(known - self.features_of(kind)) for kind, known in there.items()}
        return {kind: features for kind, features in missing.items() if features}
