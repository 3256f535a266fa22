"""Counts by minute and groups of errors, for charts. Optional for a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from tenure.core.page import Page
from tenure.core.rules.rollups import Line

Sums = Mapping[int, int]
"""Numbers by measure; see `tenure.core.rules.rollups`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RollupFilter:
    """Queues and kinds to sum up; None means all."""

    queues: tuple[str, ...] | None = None
    kinds: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureCount:
    """Failures of one group to add: of a kind, and of a tenant."""

    kind: str
    tenant: str
    group: int
    failures: int
    sample_job: str
    type: str
    message: str
    sample_message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorGroup:
    """Failures that differ only in numbers, ids and quoted words."""

    kind: str
    group: int
    failures: int
    first_at: datetime
    last_at: datetime
    sample_job: str
    type: str
    message: str
    sample_message: str


class RollupStore(Protocol):
    """What workers count, and what charts read."""

    def add(self, lines: Sequence[Line]) -> None:
        """Add these to the present minute, ten minutes and hour, by the store's clock."""
        ...

    def periods(self, span: int, since: datetime, where: RollupFilter) -> Mapping[datetime, Sums]:
        """Sums of each period that begins at `since` or later; empty ones are left out."""
        ...

    def sums(
        self, span: int, since: datetime, where: RollupFilter
    ) -> Mapping[tuple[str, str], Sums]:
        """Sums of all those periods, by queue and kind."""
        ...

    def add_failures(self, failures: Sequence[FailureCount]) -> None:
        """Add these to their groups."""
        ...

    def groups(
        self,
        since: datetime,
        limit: int,
        after: str | None = None,
        *,
        tenant: str | None = None,
        kinds: Sequence[str] | None = None,
    ) -> Page[ErrorGroup]:
        """Groups that were seen since then, the last seen first; of one tenant, or of all."""
        ...

    def hours(
        self, groups: Sequence[ErrorGroup], since: datetime, *, tenant: str | None = None
    ) -> Mapping[tuple[str, int], Mapping[datetime, int]]:
        """Failures of these groups by hour; by kind and group."""
        ...

    def prune(self, limit: int) -> None:
        """Remove what is too old, one bounded part of it."""
        ...
