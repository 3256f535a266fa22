"""Sizes of our tables, and old snapshots that keep dead rows alive."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tenure.core.timing.clock import from_micros
from tenure.stores.sql.database import Database
from tenure.stores.sql.statement import Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSize:
    """One table, or the whole file. None stands for what the database does not report."""

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
    """A transaction that may still read old rows, so that they cannot be removed."""

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
            name=name,
            bytes=int(size or 0),
            index_bytes=int(index_size or 0),
            rows=rows,
            dead=dead,
            cleaned_at=None if cleaned_at is None else from_micros(cleaned_at),
        )
        for name, size, index_size, rows, dead, cleaned_at in database.read(
            Statement("table_sizes")
        )
    ]


def old_snapshots(database: Database) -> list[Snapshot]:
    """The oldest first."""
    return [
        Snapshot(
            kind=kind,
            holder=holder,
            doing=doing or "",
            seconds=None if seconds is None else float(seconds),
            transactions=None if transactions is None else int(transactions),
        )
        for kind, holder, doing, seconds, transactions in database.read(Statement("old_snapshots"))
    ]
