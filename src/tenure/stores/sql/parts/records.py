"""Small records on a SQL database, with optimistic versions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from tenure.core.errors import VersionConflict
from tenure.core.timing.clock import from_micros
from tenure.stores.contract.parts import PAGE, Record
from tenure.stores.sql.database import Database
from tenure.stores.sql.foreign.transaction import run_in
from tenure.stores.sql.statement import Row, Rows, Statement, one


class SqlRecords:
    """See `tenure.stores.contract.RecordStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, record: Record, tx: Any = None) -> Record:
        """Create with version 0, else change only the version that was read."""
        name = "update_record" if record.version else "create_record"
        for (version,) in self._write(name, record, tx):
            return replace(record, version=version)
        raise VersionConflict(record.collection, record.name)

    def upsert(self, record: Record, tx: Any = None) -> None:
        """Write whatever the version."""
        self._write("upsert_record", record, tx)

    def _write(self, name: str, record: Record, tx: Any) -> Rows:
        values = {
            "collection": record.collection,
            "name": record.name,
            "version": record.version,
            "data": json.dumps(record.data),
        }
        return run_in(self._database, tx, partial(one, Statement(name, values)))

    def find(self, collection: str, name: str) -> Record | None:
        """One record, or None."""
        values = {"collection": collection, "name": name}
        found = self._database.read(Statement("find_record", values))
        return _record(found[0]) if found else None

    def find_all(self, collection: str, names: Sequence[str]) -> Sequence[Record]:
        """Many in one statement."""
        values = {"collection": collection, "names": list(names)}
        return [_record(row) for row in self._database.read(Statement("find_records", values))]

    def list(self, collection: str, after: str = "", limit: int = PAGE) -> Sequence[Record]:
        """In order of name."""
        values = {"collection": collection, "after": after, "limit": limit}
        return [_record(row) for row in self._database.read(Statement("list_records", values))]

    def remove(self, collection: str, name: str, tx: Any = None) -> bool:
        """Whether there was one."""
        values = {"collection": collection, "name": name}
        return bool(run_in(self._database, tx, partial(one, Statement("remove_record", values))))


def _record(row: Row) -> Record:
    collection, name, version, data, updated_at = row
    return Record(
        collection=collection,
        name=name,
        version=version,
        data=json.loads(data),
        updated_at=from_micros(updated_at),
    )
