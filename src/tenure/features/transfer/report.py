"""What a transfer did, or would do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True, kw_only=True)
class TableReport:
    """One table. `same`: the target had the row already, from an earlier try or as its own."""

    table: str
    rows: int
    added: int = 0
    replaced: int = 0
    removed: int = 0
    same: int = 0
    checksum: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "table": self.table,
            "rows": self.rows,
            "added": self.added,
            "replaced": self.replaced,
            "removed": self.removed,
            "same": self.same,
            "checksum": self.checksum,
        }


@dataclass(slots=True, kw_only=True)
class Report:
    """All of them."""

    source: str
    target: str
    tables: list[TableReport]
    dry_run: bool = False
    resumed: bool = False
    verified: bool = False
    source_closed: bool = False
    move_seconds: float = 0.0
    verify_seconds: float = 0.0
    last_ids: dict[str, int] = field(default_factory=dict)
    beside: list[str] = field(default_factory=list)

    @property
    def rows(self) -> int:
        """What the source has."""
        return sum(table.rows for table in self.tables)

    @property
    def written(self) -> int:
        """What this run wrote."""
        return sum(table.added + table.replaced for table in self.tables)

    def to_dict(self) -> dict[str, Any]:
        """For `--json`."""
        rate = round(self.written / self.move_seconds) if self.move_seconds else None
        return {
            "from": self.source,
            "to": self.target,
            "dryRun": self.dry_run,
            "resumed": self.resumed,
            "rows": self.rows,
            "written": self.written,
            "moveSeconds": round(self.move_seconds, 3),
            "rowsPerSecond": rate,
            "verifySeconds": round(self.verify_seconds, 3),
            "verified": self.verified,
            "sourceClosed": self.source_closed,
            "lastIds": self.last_ids,
            "beside": self.beside,
            "tables": [table.to_dict() for table in self.tables],
        }
