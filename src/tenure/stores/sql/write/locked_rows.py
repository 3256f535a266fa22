"""Rows that another transaction has locked: a worker settles the others and tries them later."""

from __future__ import annotations

from collections.abc import Sequence

from tenure.core.lease import Lease
from tenure.core.settlement import Settlement
from tenure.stores.sql.statement import Batch, Plan, Statement
from tenure.stores.sql.write.settle_rows import number_of

LEASE_COLUMNS = ("id", "fence")


def unlocked(settlements: Sequence[Settlement]) -> Plan[list[Settlement]]:
    """Those whose rows no other transaction has locked; ours from here on."""
    asked = {"ids": sorted(map(number_of, settlements))}
    free = {number for (number,) in (yield Statement("lock_free", asked))}
    return [item for item in settlements if number_of(item) in free]


def still_held(leases: Sequence[Lease]) -> Plan[frozenset[int]]:
    """Rows that were not written although their lease still holds: another transaction has locked
    them. The rest is stale.
    """
    if not leases:
        return frozenset()
    asked = sorted((int(lease.job_id), lease.fence) for lease in leases)
    held = yield Statement("held_leases", batch=Batch(LEASE_COLUMNS, asked))
    return frozenset([number for (number,) in held])
