"""Selects jobs: one filter for lists, counts, operators' moves and purging."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from datetime import datetime
from typing import NamedTuple

from tenure.core.errors import OptionError
from tenure.core.job import State

SUMMARY_LENGTH = 300
MOST_PATHS = 3
DEEPEST_PATH = 10


class PayloadPath(NamedTuple):
    """A place in a payload and the text of the value there. List positions are numbers."""

    path: str
    value: str

    @classmethod
    def of(cls, path: str, value: str) -> PayloadPath:
        """Checked; OptionError for a path that leads nowhere."""
        parts = path.split(".")
        if not all(parts) or len(parts) > DEEPEST_PATH or "\x00" in path + value:
            raise OptionError(f"{path!r} is not a path in a payload; write payload.order.id:42")
        return cls(path, value)

    @property
    def parts(self) -> list[str]:
        """The names and positions on the way."""
        return self.path.split(".")

    @property
    def json_path(self) -> str:
        """As SQL/JSON writes it: `$."items"[0]."sku"`."""
        steps = (
            f"[{part}]" if part.isascii() and part.isdigit() else f".{json.dumps(part)}"
            for part in self.parts
        )
        return "$" + "".join(steps)


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
    ordering_key: str | None = None
    any_key: str | None = None
    """The unique key or the ordering key."""
    error: str | None = None
    """A part of the type or message of one of its failures, or of the reason."""
    error_group: str | None = None
    """The group of its last failure."""
    payload: tuple[PayloadPath, ...] | None = None
    parent: str | None = None
    """The job that enqueued it, or its batch."""
    worker: str | None = None
    """The worker process that has it in hand."""

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
    if isinstance(value, PayloadPath):
        return f"{value.path}:{value.value}"
    if isinstance(value, tuple):
        return ",".join(_word(one) for one in value[:SUMMARY_LENGTH])
    return value.isoformat() if isinstance(value, datetime) else str(value)
