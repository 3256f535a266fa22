"""A file as it is kept: its name and whose it is; the bytes are found by its content."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from tenure.core.timing.clock import from_micros


class FileRow(NamedTuple):
    """The columns of the fragment `file`."""

    id: str
    sha256: str
    name: str
    media_type: str
    size: int
    tenant: str
    owner: str | None
    created_at: int
    expires_at: int
    blob_key: str | None = None


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One file. `expires_at` is when it may be deleted if nobody refers to it."""

    id: str
    name: str
    media_type: str
    size: int
    sha256: str
    tenant: str
    owner: str | None
    created_at: datetime
    expires_at: datetime
    blob_key: str | None = None

    @classmethod
    def of(cls, row: FileRow) -> StoredFile:
        """From its row."""
        return cls(
            id=row.id,
            name=row.name,
            media_type=row.media_type,
            size=row.size,
            sha256=row.sha256,
            tenant=row.tenant,
            owner=row.owner,
            created_at=from_micros(row.created_at),
            expires_at=from_micros(row.expires_at),
            blob_key=row.blob_key,
        )
