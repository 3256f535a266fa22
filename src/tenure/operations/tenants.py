"""What tenants weigh against each other, and how many of their jobs run at a time. Kept in the
database, so that every worker knows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from tenure.core.errors import OptionError
from tenure.core.rules.limits import check_cap
from tenure.jobs.options import check_name
from tenure.stores.contract import Capability, Store
from tenure.stores.contract.needs import need
from tenure.stores.contract.parts import Record, every

TENANTS = "tenants"
CAPS = "tenant_caps"
NO_NAME = "-"
MOST = 1_000.0


class Tenants:
    """Weights and caps of tenants: 1 and none by default. Workers see a change within 15 s."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def weigh(self, tenant: str, weight: float) -> None:
        """Within a priority a tenant of weight 3 gets three times the share of one of weight 1."""
        check_name("tenant", tenant)
        number = isinstance(weight, int | float) and not isinstance(weight, bool)
        if not number or not math.isfinite(weight) or not 1 / MOST <= weight <= MOST:
            raise OptionError(f"a weight is a number from 0.001 to 1,000, not {weight!r}")
        need(self._store, Capability.SHARES)
        data = {"weight": float(weight)}
        self._store.records.upsert(Record(collection=TENANTS, name=_record_name(tenant), data=data))

    def forget(self, tenant: str) -> bool:
        """Set the weight back to 1; returns whether it had another."""
        return self._store.records.remove(TENANTS, _record_name(tenant))

    def weights(self) -> Mapping[str, float]:
        """The weights that are set."""
        found = every(self._store.records, TENANTS)
        return {_name(record): float(record.data["weight"]) for record in found}

    def cap(self, tenant: str, jobs: int) -> None:
        """Limit how many jobs of a tenant run at a time in the whole fleet."""
        check_name("tenant", tenant)
        need(self._store, Capability.LIMITS)
        data = {"jobs": check_cap(jobs)}
        self._store.records.upsert(Record(collection=CAPS, name=_record_name(tenant), data=data))

    def uncap(self, tenant: str) -> bool:
        """Remove the cap; returns whether there was one."""
        return self._store.records.remove(CAPS, _record_name(tenant))

    def caps(self) -> dict[str, int]:
        """The caps that are set."""
        found = every(self._store.records, CAPS)
        return {_name(record): record.data["jobs"] for record in found}


def _name(record: Record) -> str:
    return record.name.removeprefix(NO_NAME)


def _record_name(tenant: str) -> str:
    """A record must have a name; those that look like the empty tenant's are told apart."""
    return NO_NAME + tenant if not tenant or tenant.startswith(NO_NAME) else tenant
