"""What workers publish about their handlers: one record per kind.

Producers without a handler for a kind place its jobs by it, and replicas keep the limits that other
replicas of their app declare. A replica that starts removes no limit that others still declare.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from tenure.core.errors import StoreError, VersionConflict
from tenure.core.job import NewJob, Placement
from tenure.core.rules.limits import Limit
from tenure.settings import Settings
from tenure.stores.contract import Capability, Store
from tenure.stores.contract.parts import Record, every

if TYPE_CHECKING:
    from tenure.jobs.handler import Handler

HANDLERS = "handlers"
PUBLISHED_EVERY = timedelta(minutes=5)
# Three missed declarations: its workers are gone, another declaration may replace it.
FORGOTTEN_AFTER = 3 * PUBLISHED_EVERY
GONE_AFTER = timedelta(hours=1)
KEPT = timedelta(days=30)
# A kind moves rarely to another queue; an unknown kind gets a worker soon after a deployment.
KNOWN_SECONDS = 30.0
UNKNOWN_SECONDS = 2.0
# Kinds come from callers, so the number of names is bounded.
MOST_KNOWN = 10_000
NEVER: tuple[float, Placement | None] = (0.0, None)
UNPLACED = attrgetter("unplaced")


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedHandler:
    """A handler as its workers declare it, with the time when each limit was last declared."""

    kind: str
    queue: str
    priority: int
    max_attempts: int
    timeout: float
    app: str = ""
    release: str = ""
    limit: Limit | None = None
    limit_at: datetime | None = None
    key_limit: Limit | None = None
    key_limit_at: datetime | None = None
    arguments: dict[str, Any] | None = None
    seen_at: datetime | None = None
    version: int = 0

    @property
    def placement(self) -> Placement:
        """Queue, priority and attempts of its jobs."""
        return Placement(self.queue, self.priority, self.max_attempts)

    def silent(self, now: datetime, span: timedelta) -> bool:
        """Whether no worker has declared it for this time."""
        return self.seen_at is None or now - self.seen_at >= span

    def next(self, there: PublishedHandler, now: datetime, *, new: bool) -> PublishedHandler | None:
        """What to write over the stored declaration; None to leave that one.

        A declaration that differs is `new` once per process. Another app's stays while renewed.
        """
        mine = replace(self, version=there.version)
        if there.app != self.app:
            return mine if there.silent(now, FORGOTTEN_AFTER) else None
        limits_due = self._limits_due(there, now)
        said = mine._with_limits_of(there, now)
        if said.differs(there) and not new and not there.silent(now, FORGOTTEN_AFTER):
            return there._with_limits_of(self, now, over=True) if limits_due else None
        due = limits_due or said.differs(there) or there.silent(now, PUBLISHED_EVERY)
        return said if due else None

    def _with_limits_of(
        self, other: PublishedHandler, now: datetime, *, over: bool = False
    ) -> PublishedHandler:
        """With the limits of another declaration if this one has none: they stay for an hour."""
        found = self
        if _lasts(other.limit_at, now) and (over or self.limit is None):
            found = replace(found, limit=other.limit, limit_at=other.limit_at)
        if _lasts(other.key_limit_at, now) and (over or self.key_limit is None):
            found = replace(found, key_limit=other.key_limit, key_limit_at=other.key_limit_at)
        return found

    def _limits_due(self, there: PublishedHandler, now: datetime) -> bool:
        """Whether a limit of this declaration has to be renewed."""
        pairs = ((self.limit, there.limit_at), (self.key_limit, there.key_limit_at))
        return any(
            limit is not None and (at is None or now - at >= PUBLISHED_EVERY) for limit, at in pairs
        )

    def differs(self, other: PublishedHandler) -> bool:
        """Whether they differ in anything but times."""
        return self._said() != other._said()

    def _said(self) -> tuple[Any, ...]:
        return (
            *self.placement, self.timeout, self.app, self.release, self.limit, self.key_limit,
            self.arguments,
        )  # fmt: skip

    def to_record(self) -> Record:
        """The record to store."""
        data = asdict(self)
        for name in ("kind", "seen_at", "version"):
            del data[name]
        for name in ("limit_at", "key_limit_at"):
            data[name] = None if data[name] is None else data[name].isoformat()
        return Record(collection=HANDLERS, name=self.kind, data=data, version=self.version)

    @classmethod
    def of(cls, record: Record) -> PublishedHandler:
        """From a record; unknown fields of newer code are ignored."""
        data = {name: record.data[name] for name in cls.__slots__ if name in record.data}
        for name in ("limit", "key_limit"):
            data[name] = Limit(**data[name]) if data.get(name) else None
            at = data.get(f"{name}_at")
            data[f"{name}_at"] = None if at is None else datetime.fromisoformat(at)
        return cls(kind=record.name, seen_at=record.updated_at, version=record.version, **data)


class Published:
    """`app.published`: tells producers where jobs of kinds go that they have no handler for."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings
        self._found: dict[str, tuple[float, Placement | None]] = {}
        self._announced: set[tuple[Store, str]] = set()

    def all(self) -> dict[str, PublishedHandler]:
        """All published handlers, by kind."""
        return {one.name: PublishedHandler.of(one) for one in every(self._store.records, HANDLERS)}

    def publish(self, handlers: Iterable[Handler[Any]]) -> dict[str, PublishedHandler]:
        """Publish these handlers where something changed; returns what is published now.

        A declaration that differs is written once per process. Of two releases the one that
        started last wins, and keeps its word while one of its replicas lives.
        """
        now, there = self._store.now(), self.all()
        for handler in handlers:
            name, before = (self._store, handler.kind), there.get(handler.kind)
            mine: PublishedHandler | None = self._declared(handler, now)
            if before is not None and mine is not None:
                mine = mine.next(before, now, new=name not in self._announced)
            self._announced.add(name)
            if mine is not None:
                with suppress(
                    VersionConflict
                ):  # another replica has just written: try again next time
                    self._store.records.put(mine.to_record())
                    there[handler.kind] = replace(mine, seen_at=now)
        return there

    def forget_old(self) -> None:
        """Remove kinds that no worker has known for a month."""
        now = self._store.now()
        for kind, one in self.all().items():
            if one.silent(now, KEPT):
                self._store.records.remove(HANDLERS, kind)

    def limits(self, there: Mapping[str, PublishedHandler]) -> list[PublishedHandler]:
        """The handlers of this app with the limits declared within the last hour."""
        now, app = self._store.now(), self._settings.app_name
        return [
            replace(
                one,
                limit=one.limit if _lasts(one.limit_at, now) else None,
                key_limit=one.key_limit if _lasts(one.key_limit_at, now) else None,
            )
            for one in there.values()
            if one.app == app
        ]

    def knows(self, jobs: Iterable[NewJob]) -> bool:
        """Whether `place` needs no query for these jobs."""
        now = time.monotonic()
        return all(now < self._found.get(job.kind, NEVER)[0] for job in jobs if job.unplaced)

    def place(self, jobs: Sequence[NewJob]) -> Sequence[NewJob]:
        """Place jobs of kinds without a handler here as live workers say. All others are unchanged;
        a kind that no worker knows yet is placed by the worker that claims it.
        """
        if not any(map(UNPLACED, jobs)):
            return jobs
        return [self._placed(job) if job.unplaced else job for job in jobs]

    def _placed(self, job: NewJob) -> NewJob:
        found = self._look(job.kind)
        return job if found is None else job.placed(found)

    def _look(self, kind: str) -> Placement | None:
        """Cached for some seconds. If it cannot be read, the handler decides at the claim."""
        now = time.monotonic()
        until, known = self._found.get(kind, NEVER)
        if now < until:
            return known
        record = None
        if Capability.RECORDS in self._store.capabilities:
            with suppress(StoreError):
                record = self._store.records.find(HANDLERS, kind)
        found = None if record is None else PublishedHandler.of(record).placement
        lasts = UNKNOWN_SECONDS if found is None else KNOWN_SECONDS
        if len(self._found) > MOST_KNOWN:
            self._found.clear()
        self._found[kind] = (now + lasts, found)
        return found

    def _declared(self, handler: Handler[Any], now: datetime) -> PublishedHandler:
        options = handler.options
        return PublishedHandler(
            kind=handler.kind,
            queue=options.queue,
            priority=options.priority,
            max_attempts=options.retry.attempts,
            timeout=options.timeout,
            app=self._settings.app_name,
            release=self._settings.app_version,
            limit=options.limit,
            limit_at=None if options.limit is None else now,
            key_limit=options.key_limit,
            key_limit_at=None if options.key_limit is None else now,
            arguments=handler.arguments.schema,
        )


def _lasts(at: datetime | None, now: datetime) -> bool:
    return at is not None and now - at < GONE_AFTER
