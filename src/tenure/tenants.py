"""What tenants weigh against each other. Kept in the database, so that every worker knows."""

from __future__ import annotations

import math
from collections.abc import Mapping

from tenure.core.errors import OptionError
from tenure.options import check_name
from tenure.stores.beside import Record
from tenure.stores.contract import Store

TENANTS = "tenants"
MOST = 1_000.0


class Tenants:
    """Weights of tenants; one that is not named weighs 1. Workers see a change within 15 s."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def weigh(self, tenant: str, weight: float) -> None:
        """Within a priority a tenant of weight 3 gets three times the share of one of weight 1."""
        check_name("tenant", tenant)
        number = isinstance(weight, int | float) and not isinstance(weight, bool)
        if not number or not math.isfinite(weight) or not 1 / MOST <= weight <= MOST:
            raise OptionError(f"a weight is a number from 0.001 to 1,000, not {weight!r}")
        data = {"weight": float(weight)}
        self._store.records.upsert(Record(collection=TENANTS, name=tenant or "-", data=data))

    def forget(self, tenant: str) -> bool:
        """Let it weigh 1 again; whether it had another weight."""
        return self._store.records.remove(TENANTS, tenant or "-")

    def weights(self) -> Mapping[str, float]:
        """Of those that are named."""
        return {
            "" if record.name == "-" else record.name: float(record.data["weight"])
            for record in self._store.records.list(TENANTS)
        }
