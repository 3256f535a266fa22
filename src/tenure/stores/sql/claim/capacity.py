"""What a claim may still take: free slots of each queue, and the room of each capped tenant."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from tenure.core.rules.limits import SEPARATOR
from tenure.core.rules.shares import Take
from tenure.stores.contract import ClaimRequest
from tenure.stores.sql.statement import Batch, Plan, Statement

TENANTS_GATE = f"{SEPARATOR}tenants"


class Capacity:
    """Goes down as jobs are taken."""

    def __init__(self, slots: Mapping[str, int], tenants: Mapping[str, int]) -> None:
        self.slots = {queue: count for queue, count in slots.items() if count > 0}
        self.tenants = dict(tenants)

    def __bool__(self) -> bool:
        return bool(self.slots)

    @property
    def total(self) -> int:
        """All free slots."""
        return sum(self.slots.values())

    def of(self, queues: Iterable[str]) -> int:
        """The free slots of these queues."""
        return sum(self.slots.get(queue, 0) for queue in set(queues))

    def has(self, tenant: str) -> bool:
        """Whether this tenant may have one more job running."""
        return self.tenants.get(tenant, 1) > 0

    def take(self, queue: str, tenant: str, wanted: int) -> int:
        """Reserve as many of the wanted ones as there is room for; answers how many."""
        number = min(wanted, self.slots.get(queue, 0), self.tenants.get(tenant, wanted))
        self.give_back(queue, tenant, -max(0, number))
        return max(0, number)

    def give_back(self, queue: str, tenant: str, number: int = 1) -> None:
        """Return so many that were not there, or may not run."""
        left = self.slots.pop(queue, 0) + number
        if left > 0:
            self.slots[queue] = left
        if tenant in self.tenants:
            self.tenants[tenant] += number

    def capped(self, shares: list[Take]) -> list[Take]:
        """The shares, with no more of a tenant than it may have."""
        if not self.tenants:
            return shares
        left = dict(self.tenants)
        takes: list[Take] = []
        for lane, wanted in shares:
            number = min(wanted, left.get(lane.tenant, wanted))
            if number > 0:
                takes.append(Take(lane, number))
                left[lane.tenant] = left.get(lane.tenant, number) - number
        return takes


def capacity_for(request: ClaimRequest, paused: Collection[str]) -> Plan[Capacity]:
    """The free slots of queues that are not paused, and what capped tenants have left."""
    slots = {
        queue: free for queue, free in request.slots.items() if free > 0 and queue not in paused
    }
    caps = request.limits.tenants
    if not caps or not slots:
        return Capacity(slots, {})
    # One lock for all caps: until the commit nobody else counts what runs for these tenants.
    gates = {"gates": [TENANTS_GATE]}
    if not (yield Statement("lock_gates", gates)):
        yield Statement("add_gates", batch=Batch(("gate", "tokens"), [(TENANTS_GATE, 0.0)]))
        yield Statement("lock_gates", gates)
    running: dict[str, int] = dict(
        (yield Statement("running_of_tenants", {"tenants": sorted(caps)}))
    )
    return Capacity(slots, {tenant: cap - running.get(tenant, 0) for tenant, cap in caps.items()})
