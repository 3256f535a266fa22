"""Operators' moves and purges in a store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from tenure.core.filter import JobFilter
from tenure.core.rules.retention import Purged


class Move(StrEnum):
    """What an operator may do to jobs."""

    CANCEL = "cancel"
    RETRY = "retry"
    REPRIORITISE = "reprioritise"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """An operator's move, and who makes it."""

    move: Move
    actor: str = "operator"
    priority: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """How many jobs of this chunk matched and were changed, and which could not be; `next` is
    where the next chunk starts.
    """

    matched: int = 0
    changed: int = 0
    refused: Sequence[str] = ()
    next: str | None = None


class Changing(Protocol):
    """How operators change many jobs: in bounded chunks."""

    def change(
        self, where: JobFilter, change_: Change, after: str | None = None, limit: int = 500
    ) -> Changed:
        """One chunk of a move. It never silently changes a running job."""
        ...

    def purge(
        self, where: JobFilter, before: datetime, limit: int = 500, after: str | None = None
    ) -> Purged:
        """Remove one chunk of finished jobs, and keys whose window is over. Failed and dead jobs
        stay unless the filter names them.
        """
        ...
