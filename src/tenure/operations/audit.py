"""The audit log: who changed queues, schedules, keys and other things that are not one job.

A move of a single job stands in that job's own history, with its actor.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from tenure.core.page import Page
from tenure.core.signals import Signals
from tenure.core.timing.clock import from_micros, to_micros
from tenure.stores.contract import Capability, Store
from tenure.stores.contract.parts import Record

AUDIT = "audit"
KEPT = timedelta(days=400)
REMOVED_AT_ONCE = 50
LAST = 10**17
MOST_SEARCHED = 5_000
SEARCHED_AT_ONCE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLine:
    """One action: when, who, what, on what, and further facts."""

    at: datetime
    actor: str
    action: str
    target: str
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """Who, what (the beginning of the action), on what (a part of the target)."""

    actor: str | None = None
    action: str | None = None
    target: str | None = None

    def has(self, line: AuditLine) -> bool:
        """Whether an entry matches."""
        return (
            self.actor in (None, line.actor)
            and line.action.startswith(self.action or "")
            and (self.target or "").lower() in line.target.lower()
        )


class Audit:
    """Keeps entries for 400 days. Writing an entry removes some that are older."""

    def __init__(self, store: Store, signals: Signals) -> None:
        self._store = store
        self._signals = signals
        self._lock = threading.Lock()
        self._last = from_micros(0)

    def note(self, actor: str, action: str, target: str, *, tx: Any = None, **facts: Any) -> None:
        """Write an entry; with `tx`, in the transaction of the action. `action`: `queue.paused`."""
        self._signals.emit("audit.noted", actor=actor, action=action, target=target, facts=facts)
        if Capability.RECORDS not in self._store.capabilities:
            return
        now = self._moment()
        data = {"actor": actor, "action": action, "target": target, "facts": facts}
        name = f"{_position(now)}-{secrets.token_hex(4)}"
        self._store.records.put(Record(collection=AUDIT, name=name, data=data), tx)
        for old in self._store.records.list(AUDIT, _position(now - KEPT), REMOVED_AT_ONCE):
            self._store.records.remove(AUDIT, old.name, tx)

    def _moment(self) -> datetime:
        """A unique time by the store's clock, which may only tick in milliseconds."""
        now = self._store.now()
        with self._lock:
            self._last = max(now, self._last + timedelta(microseconds=1))
            return self._last

    def page(
        self, where: AuditFilter | None = None, *, limit: int = 50, after: str | None = None
    ) -> Page[AuditLine]:
        """Entries, newest first; `after` is the `next` of the page before. A filter looks through
        at most 5,000 entries, and the next page continues there.
        """
        shown: list[AuditLine] = []
        searched = 0
        while searched < MOST_SEARCHED:
            found = self._store.records.list(AUDIT, after or "", SEARCHED_AT_ONCE)
            for record in found:
                if len(shown) == limit:
                    return Page(shown, after)
                line = _line(record)
                if where is None or where.has(line):
                    shown.append(line)
                after = record.name
            if len(found) < SEARCHED_AT_ONCE:
                return Page(shown, None)
            searched += len(found)
        return Page(shown, after)


def _position(moment: datetime) -> str:
    """Records are listed by name: a later moment has an earlier one."""
    return f"{LAST - to_micros(moment):017d}"


def _line(record: Record) -> AuditLine:
    micros = LAST - int(record.name.partition("-")[0])
    return AuditLine(at=from_micros(micros), **record.data)
