"""A schedule as it is stored: what the code says, what an operator changed, how far it is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from tenure.features.schedules.terms import Edit, Terms, known, terms_of
from tenure.features.schedules.timing import Timing, following
from tenure.stores.contract.parts import Record

SCHEDULES = "schedules"
JOBS_KEPT = 5
JUST_BEFORE = timedelta(microseconds=1)
DECLARED_EVERY = timedelta(minutes=5)
FORGOTTEN_AFTER = 3 * DECLARED_EVERY
GONE_AFTER = timedelta(hours=1)
TIMES = ("next_at", "last_slot", "declared_at", "missed_since")


@dataclass(frozen=True, slots=True)
class Declarer:
    """Whose code declares: the app and its release (TENURE_APP_NAME, TENURE_APP_VERSION)."""

    app: str = ""
    release: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """One row. `enabled` is False where no code has declared it for an hour.

    `app` and `release` are those of the program that declared it last, at `declared_at`.
    `replaced` is a digest of the terms before these: a replica that comes with them is of the
    release before. `missed_since` is when a replica that does not declare it first noticed that
    nobody else does.
    """

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
    last_jobs: tuple[str, ...] = ()
    fired: int = 0
    dropped: int = 0
    release: str = ""
    declared_at: datetime | None = None
    missed_since: datetime | None = None
    replaced: str | None = None
    version: int = 0

    @property
    def terms(self) -> Terms:
        """The terms in force: the code's declaration with the operator's changes."""
        return terms_of({**asdict(self.declared), **self.edited})

    @property
    def active(self) -> bool:
        """Whether its slots fire."""
        return self.enabled and not self.paused

    @property
    def state(self) -> str:
        """The state in one word."""
        if not self.enabled:
            return "removed"
        return "paused" if self.paused else "active"

    def declare(self, by: Declarer, terms: Terms, now: datetime, *, starting: bool) -> Schedule:
        """A replica's code says this; what an operator changed stays.

        Of two releases the one that came with new terms wins as long as one of its replicas lives:
        one of the other that starts again changes nothing.
        """
        if not self.enabled:
            found = self._declared(by, terms, now)
            return replace(found, next_at=following(found.timing(), now))
        if terms == self.declared:
            return self if self._fresh(by, now) else self._declared(by, terms, now)
        unheard = starting and digest(terms) != self.replaced
        return self._declared(by, terms, now) if unheard or self._forgotten(now) else self

    def miss(self, now: datetime) -> Schedule:
        """A replica of its app does not declare it: it goes when nobody has for an hour.

        After an outage of the whole fleet the hour begins anew, as replicas do not start at once.
        """
        if not self.enabled or not self._forgotten(now):
            return self
        if self.missed_since is None:
            return replace(self, missed_since=now)
        gone = now - self.missed_since >= GONE_AFTER - FORGOTTEN_AFTER and self._silent(
            now, GONE_AFTER
        )
        return replace(self, enabled=False, missed_since=None) if gone else self

    def _declared(self, by: Declarer, terms: Terms, now: datetime) -> Schedule:
        replaced = self.replaced if terms == self.declared else digest(self.declared)
        return replace(
            self, declared=terms, app=by.app, release=by.release, declared_at=now, enabled=True,
            missed_since=None, replaced=replaced,
        )  # fmt: skip

    def _fresh(self, by: Declarer, now: datetime) -> bool:
        """Whether there is nothing to write."""
        known = self.app == by.app and self.missed_since is None
        return known and not self._silent(now, DECLARED_EVERY)

    def _forgotten(self, now: datetime) -> bool:
        """Whether no living replica declares these terms."""
        return self._silent(now, FORGOTTEN_AFTER)

    def _silent(self, now: datetime, span: timedelta) -> bool:
        return self.declared_at is None or now - self.declared_at >= span

    def edit(self, changes: Edit) -> Schedule:
        """Apply an operator's changes. An interval replaces a cron expression, and vice versa."""
        other = {"cron": {"every": None}, "every": {"cron": None}}
        edited: dict[str, Any] = {**self.edited}
        for name, value in changes.items():
            edited |= {**other.get(name, {}), name: value}
        return replace(self, edited=edited)

    def ran(self, jobs: Iterable[str]) -> Schedule:
        """It has added these jobs; the last few are kept, newest first."""
        newest = (*reversed(tuple(jobs)), *self.last_jobs)
        return replace(self, last_jobs=newest[:JOBS_KEPT])

    def timing(self) -> Timing:
        """The rule for its slots."""
        return self.terms.timing()

    def retimed(self, before: Schedule, now: datetime) -> Schedule:
        """With the next slot by its new rule, even if that is in the past."""
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
        data["last_jobs"] = tuple(data.get("last_jobs", ()))
        times = {name: _moment(data.pop(name, None)) for name in TIMES}
        terms = terms_of(data.pop("declared"))
        return cls(name=record.name, version=record.version, declared=terms, **times, **data)


def digest(terms: Terms) -> str:
    """Tells the terms of one release from those of another."""
    text = json.dumps(asdict(terms), sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _plain(value: object) -> object:
    return value.isoformat() if isinstance(value, datetime) else value


def _moment(text: str | None) -> Any:
    return None if text is None else datetime.fromisoformat(text)
