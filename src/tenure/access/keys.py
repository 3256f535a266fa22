"""API keys: `tenure_ID_SECRET`, shown once, kept as a hash, created and revoked at any time."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from tenure.access.caller import Caller, How, Permission
from tenure.access.secrets import digest, matches, new_secret
from tenure.app import Tenure
from tenure.core.errors import (
    OptionError,
)
from tenure.core.refusals import (
    ApiKeyNotFound,
)
from tenure.core.timing.clock import Clock
from tenure.jobs.options import check_name
from tenure.stores.contract.parts import Record, every

KEYS = "api_keys"
SHAPE = re.compile("tenure_([0-9a-f]{12})_[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """What is known of a key. Its secret is not."""

    id: str
    name: str
    permission: Permission
    tenant: str | None
    owner: str | None
    created_at: datetime
    created_by: str
    expires_at: datetime | None

    def expired(self, now: datetime) -> bool:
        """Whether its time is over."""
        return self.expires_at is not None and self.expires_at <= now

    @property
    def caller(self) -> Caller:
        """Who it stands for."""
        return Caller(
            name=f"key:{self.name}:{self.id}",
            how=How.KEY,
            tenant=self.tenant,
            owner=self.owner,
            permissions=self.permission.held,
            site=self.tenant is None,
        )


class Keys:
    """The API keys of an app's database."""

    def __init__(self, app: Tenure, clock: Clock | None = None) -> None:
        self._store = app.store
        self._records = app.store.records
        self._signals = app.signals
        self._audit = app.operator.audit
        self._clock = clock

    def create(
        self,
        name: str,
        permission: Permission,
        *,
        actor: str,
        tenant: str | None = None,
        owner: str | None = None,
        seconds: float | None = None,
    ) -> tuple[str, ApiKey]:
        """A new key and what is known of it. The key itself can never be had again."""
        check_name("key_name", name)
        check_whose(tenant, owner)
        if seconds is not None and not seconds > 0:
            raise OptionError(f"a key must last longer than nothing, not {seconds!r} seconds")
        key = ApiKey(
            id=secrets.token_hex(6),
            name=name,
            permission=permission,
            tenant=tenant,
            owner=owner,
            created_at=self._now(),
            created_by=actor,
            expires_at=None if seconds is None else self._now() + timedelta(seconds=seconds),
        )
        text = f"tenure_{key.id}_{new_secret()}"
        with self._store.transaction() as tx:
            self._records.put(Record(collection=KEYS, name=key.id, data=_data(key, text)), tx)
            self._audit.note(actor, "key.created", key.id, tx=tx, name=name, permission=permission)
        return text, key

    def find(self, text: str) -> ApiKey | None:
        """The key, if it is one and still good."""
        shaped = SHAPE.fullmatch(text)
        record = self._records.find(KEYS, shaped[1]) if shaped else None
        if not matches(text, record.data["hash"] if record else None) or record is None:
            return None
        key = _key(record)
        return None if key.expired(self._now()) else key

    def list(self) -> Iterator[ApiKey]:
        """All there are, expired ones too."""
        return map(_key, every(self._records, KEYS))

    def revoke(self, key_id: str, *, actor: str) -> None:
        """It is good for nothing from now on; other processes notice within seconds."""
        with self._store.transaction() as tx:
            if not self._records.remove(KEYS, key_id, tx):
                raise ApiKeyNotFound(key_id)
            self._audit.note(actor, "key.revoked", key_id, tx=tx)
        self._signals.emit("key.revoked", key=key_id)

    def any(self) -> bool:
        """Whether there is a key that is still good."""
        now = self._now()
        return any(not key.expired(now) for key in self.list())

    def _now(self) -> datetime:
        return self._store.now() if self._clock is None else self._clock.now()


def check_whose(tenant: str | None, owner: str | None) -> None:
    """An owner is somebody of a tenant."""
    check_name("owner", owner)
    if tenant is not None:
        check_name("tenant", tenant)
    if owner is not None and tenant is None:
        raise OptionError("an owner needs a tenant; the empty one is a tenant too")
    if owner == "":
        raise OptionError("an owner cannot be empty")


def _data(key: ApiKey, text: str) -> dict[str, str | None]:
    return {
        "name": key.name,
        "hash": digest(text),
        "permission": key.permission.value,
        "tenant": key.tenant,
        "owner": key.owner,
        "created_at": key.created_at.isoformat(),
        "created_by": key.created_by,
        "expires_at": None if key.expires_at is None else key.expires_at.isoformat(),
    }


def _key(record: Record) -> ApiKey:
    data = record.data
    expires = data["expires_at"]
    return ApiKey(
        id=record.name,
        name=data["name"],
        permission=Permission(data["permission"]),
        tenant=data["tenant"],
        owner=data["owner"],
        created_at=datetime.fromisoformat(data["created_at"]),
        created_by=data["created_by"],
        expires_at=None if expires is None else datetime.fromisoformat(expires),
    )
