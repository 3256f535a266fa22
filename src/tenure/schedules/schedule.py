"""A schedule as it is stored: what the code says, what an operator changed, how far it is."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from tenure.schedules.terms import Edit, Terms, known, terms_of
from tenure.schedules.timing import Timing, following
from tenure.stores.beside import Record

SCHEDULES = "schedules"
JUST_BEFORE = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """One row. `enabled` is False where the code no longer declares it."""

    name: str
    declared: Terms
    next_at: datetime
    edited: dict[str, Any] = field(default_factory=dict)
    app: str = ""
    enabled: bool = True
    paused: bool = False
    paused_by: str | None = None
    last_slot: datetime | None = None
    last_job: str | None = None
    fired: int = 0
    dropped: int = 0
    version: int = 0

    @property
    def terms(self) -> Terms:
        """What holds: an operator's changes over what the code says."""
        return terms_of({**asdict(self.declared), **self.edited})

    @property
    def active(self) -> bool:
        """Whether its slots fire."""
        return self.enabled and not self.paused

    def declare(self, terms: Terms, app: str, now: datetime) -> Schedule:
        """The code says this now; what an operator changed stays."""
        again = replace(self, declared=terms, app=app, enabled=True)
        return again if self.enabled else replace(again, next_at=following(again.timing(), now))

    def edit(self, changes: Edit) -> Schedule:
        """An operator says this now. An interval replaces a cron expression, and the reverse."""
        other = {"cron": {"every": None}, "every": {"cron": None}}
        edited: dict[str, Any] = {**self.edited}
        for name, value in changes.items():
            edited |= {**other.get(name, {}), name: value}
        return replace(self, edited=edited)

    def timing(self) -> Timing:
        """The rule for its slots."""
        return self.terms.timing()

    def retimed(self, before: Schedule, now: datetime) -> Schedule:
        """With the next slot by its new rule, also where that should have come already."""
        if self.timing() == before.timing():
            return self
        since = min(now, self.next_at - JUST_BEFORE)
        return replace(self, next_at=following(self.timing(), since))

    def to_record(self) -> Record:
        """As it is stored."""
        data = {name: _plain(value) for name, value in asdict(self).items()}
        del data["name"], data["version"]
        return Record(collection=SCHEDULES, name=self.name, data=data, version=self.version)

    @classmethod
    def of(cls, record: Record) -> Schedule:
        """From what is stored."""
        data = known(cls, record.data)
        times = {name: _moment(data.pop(name)) for name in ("next_at", "last_slot")}
        terms = terms_of(data.pop("declared"))
        return cls(name=record.name, version=record.version, declared=terms, **times, **data)


def _plain(value: object) -> object:
    return value.isoformat() if isinstance(value, datetime) else value


def _moment(text: str | None) -> Any:
    return None if text is None else datetime.fromisoformat(text)
