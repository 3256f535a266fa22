"""Secrets that stand for a caller until they expire: sessions and single-use links."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from tenure.access.caller import Caller, How, Permission
from tenure.access.secrets import digest, new_secret
from tenure.app import Tenure
from tenure.core.timing.clock import Clock
from tenure.stores.contract.parts import Record

SESSIONS = "sessions"
LOGIN_LINKS = "login_links"
SWEPT_AT_ONCE = 50
ENDED_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Ticket:
    """The caller that a secret stands for, and when it expires."""

    caller: Caller
    expires_at: datetime


class Tickets:
    """Tickets of one collection. The database keeps hashes; a new one removes some expired ones."""

    def __init__(self, app: Tenure, collection: str, clock: Clock | None = None) -> None:
        self._store = app.store
        self._records = app.store.records
        self._collection = collection
        self._clock = clock

    def issue(self, caller: Caller, seconds: float) -> str:
        """A new secret for this caller."""
        # Before it is issued: a full table of expired sessions shrinks with every login.
        self._sweep()
        secret, expires_at = new_secret(), self._now() + timedelta(seconds=seconds)
        data = _data(Ticket(caller, expires_at))
        self._records.put(Record(collection=self._collection, name=digest(secret), data=data))
        return secret

    def find(self, secret: str) -> Ticket | None:
        """The ticket of a secret, unless it has expired."""
        record = self._records.find(self._collection, digest(secret))
        ticket = None if record is None else _ticket(record)
        return ticket if ticket is not None and ticket.expires_at > self._now() else None

    def take(self, secret: str) -> Ticket | None:
        """The same, and remove it. Of two concurrent calls only one gets it."""
        # The removal decides: only one of two concurrent requests removes the row.
        found = self.find(secret)
        return found if self.end(secret) else None

    def end(self, secret: str) -> bool:
        """Remove it; False if there was none."""
        return self._records.remove(self._collection, digest(secret))

    def end_all(self) -> int:
        """Remove all; returns how many there were."""
        ended = 0
        while found := self._records.list(self._collection, limit=ENDED_AT_ONCE):
            ended += sum(self._records.remove(self._collection, one.name) for one in found)
        return ended

    def _sweep(self) -> None:
        """Remove some expired ones, from a random name on: names are hashes."""
        now = self._now()
        for record in self._records.list(self._collection, secrets.token_hex(1), SWEPT_AT_ONCE):
            if _ticket(record).expires_at <= now:
                self._records.remove(self._collection, record.name)

    def _now(self) -> datetime:
        return self._store.now() if self._clock is None else self._clock.now()


def _data(ticket: Ticket) -> dict[str, Any]:
    caller = ticket.caller
    return {
        "name": caller.name,
        "tenant": caller.tenant,
        "owner": caller.owner,
        "permissions": sorted(caller.permissions),
        "site": caller.site,
        "expires_at": ticket.expires_at.isoformat(),
    }


def _ticket(record: Record) -> Ticket:
    data = record.data
    caller = Caller(
        name=data["name"],
        how=How.SESSION,
        tenant=data["tenant"],
        owner=data["owner"],
        permissions=frozenset(map(Permission, data["permissions"])),
        site=data["site"],
    )
    return Ticket(caller, datetime.fromisoformat(data["expires_at"]))
