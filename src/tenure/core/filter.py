"""Selects jobs: one filter for lists, counts, operators' moves and purging."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime

from tenure.core.job import State

SUMMARY_LENGTH = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFilter:
    """All conditions that are set must hold; None means any."""

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
        """Whether no condition is set, so that every job matches."""
        return all(getattr(self, field.name) is None for field in fields(self))


def summary(where: JobFilter) -> str:
    """The conditions in a line of bounded length: `states=failed,dead tenant=acme`."""
    named = ((field.name, getattr(where, field.name)) for field in fields(where))
    text = " ".join(f"{name}={_word(value)}" for name, value in named if value is not None)
    return text if len(text) <= SUMMARY_LENGTH else f"{text[: SUMMARY_LENGTH - 1]}…"


def _word(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(map(str, value[:SUMMARY_LENGTH]))
    return value.isoformat() if isinstance(value, datetime) else str(value)
