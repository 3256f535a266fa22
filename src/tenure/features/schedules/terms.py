"""What a schedule does: when, which job, and what becomes of slots that were missed."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from typing import Any, TypedDict

from tenure.core.errors import OptionError
from tenure.core.job import DEFAULT_MAX_ATTEMPTS, DEFAULT_PRIORITY, DEFAULT_QUEUE
from tenure.features.schedules.cron import Cron, zone_of
from tenure.features.schedules.due import CatchUp
from tenure.features.schedules.timing import Every, Timing

MOST_SLOTS = 1_000
DEFAULT_LIMIT = 100


class Edit(TypedDict, total=False):
    """What an operator may change."""

    cron: str
    every: int
    zone: str
    payload: dict[str, Any]
    catch_up: str
    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """When, what, and how to catch up. `every` is in seconds."""

    kind: str
    cron: str | None = None
    every: int | None = None
    zone: str = "UTC"
    payload: dict[str, Any] = field(default_factory=dict)
    catch_up: str = CatchUp.LAST
    limit: int = DEFAULT_LIMIT
    slot_as: str | None = None
    tenant: str = ""
    queue: str = DEFAULT_QUEUE
    priority: int = DEFAULT_PRIORITY
    max_attempts: int = DEFAULT_MAX_ATTEMPTS

    def checked(self) -> Terms:
        """The terms themselves, or an OptionError that says what is wrong."""
        self.timing()
        zone_of(self.zone)  # kept for a later cron expression where there is an interval now
        if self.catch_up not in list(CatchUp):
            raise OptionError(f"catch_up {self.catch_up!r} is not one of {', '.join(CatchUp)}")
        if type(self.limit) is not int or not 1 <= self.limit <= MOST_SLOTS:
            raise OptionError(
                f"limit must be a whole number of slots from 1 to {MOST_SLOTS}, not {self.limit!r}"
            )
        if not isinstance(self.payload, dict):
            raise OptionError(f"payload must be an object of arguments, not {self.payload!r}")
        return self

    def timing(self) -> Timing:
        """The rule for its slots."""
        if (self.cron is None) == (self.every is None):
            raise OptionError("a schedule has a cron expression or an interval (every), not both")
        return Every(self.every) if self.every is not None else Cron(self.cron or "", self.zone)

    def arguments(self, slot: datetime) -> dict[str, Any]:
        """The payload of the job of one slot."""
        if self.slot_as is None:
            return self.payload
        return {**self.payload, self.slot_as: slot.isoformat()}


def as_stored(terms: Terms) -> Terms:
    """The terms as they are read again: a tuple in a payload becomes a list."""
    return terms_of(json.loads(json.dumps(asdict(terms))))


def terms_of(data: dict[str, Any]) -> Terms:
    """From what is stored."""
    return Terms(**known(Terms, data))


def known(kind: type[Any], data: dict[str, Any]) -> dict[str, Any]:
    """The fields that this code knows; newer code may have stored more."""
    return {name: data[name] for one in fields(kind) if (name := one.name) in data}
