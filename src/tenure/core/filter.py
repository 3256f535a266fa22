"""Which jobs are meant. One filter for lists, counts, operator moves and purging."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime

from tenure.core.job import State


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFilter:
    """All conditions that are set must hold. None means: any."""

    ids: tuple[str, ...] | None = None
    kinds: tuple[str, ...] | None = None
    queues: tuple[str, ...] | None = None
    states: tuple[State, ...] | None = None
    tenant: str | None = None
    owner: str | None = None
    key: str | None = None
    correlation_id: str | None = None
    batch_id: str | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None
    finished_before: datetime | None = None

    @property
    def empty(self) -> bool:
        """Nothing is asked for: every job matches."""
        return all(getattr(self, field.name) is None for field in fields(self))
