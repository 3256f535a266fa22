"""What the database says about our tables: how large they are, and who keeps dead rows alive."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tenure.core.timing.clock import from_micros
from tenure.stores.sql.database import Database
from tenure.stores.sql.statement import Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSize:
    """One table, or the whole file. What the database does not tell is None."""

    name: str
    bytes: int
    index_bytes: int
    rows: int | None
    dead: int | None
    cleaned_at: datetime | None

    def to_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "table": self.name,
            "bytes": self.bytes,
            "index_bytes": self.index_bytes,
            "rows": self.rows,
            "dead": self.dead,
            "cleaned_at": None if self.cleaned_at is None else self.cleaned_at.isoformat(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Somebody who may still look at old rows, so that they must stay."""

    kind: str
    holder: str
    doing: str
    seconds: float | None
    transactions: int | None

    def to_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "kind": self.kind,
            "holder": self.holder,
            "doing": self.doing,
            "seconds": self.seconds,
            "transactions": self.transactions,
        }


def table_sizes(database: Database) -> list[TableSize]:
    """The largest first."""
    return [
        TableSize(
            name=row[0],
            bytes=int(row[1] or 0),
            index_bytes=int(row[2] or 0),
            rows=row[3],
            dead=row[4],
            cleaned_at=None if row[5] is None else from_micros(row[5]),
        )
        for row in database.read(Statement("table_sizes"))
    ]


def old_snapshots(database: Database) -> list[Snapshot]:
    """The oldest first."""
    return [
        Snapshot(
            kind=row[0],
            holder=row[1],
            doing=row[2] or "",
            seconds=None if row[3] is None else float(row[3]),
            transactions=None if row[4] is None else int(row[4]),
        )
        for row in database.read(Statement("old_snapshots"))
    ]
