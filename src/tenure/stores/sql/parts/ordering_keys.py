"""Ordering keys that have stopped: jobs wait behind each other, but no job is at the head.

The end of a head releases the next job in its own transaction, so this should never happen. If it
does, whatever the cause, it is found and repaired here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from tenure.core.rules.order import lock_of
from tenure.core.rules.shares import Lane
from tenure.stores.contract.parts import OrderName, Stopped
from tenure.stores.sql.database import Database
from tenure.stores.sql.ids import chunk_position
from tenure.stores.sql.rows import freed_lanes
from tenure.stores.sql.statement import Batch, Plan, Statement
from tenure.stores.sql.write.held_jobs import ORDER_COLUMNS

Freed = Callable[[Sequence[Lane]], None]


class SqlOrders:
    """See `tenure.stores.contract.OrderStore`. `freed` is called with lanes that got a job."""

    def __init__(self, database: Database, freed: Freed) -> None:
        self._database = database
        self._freed = freed

    def stopped(self, limit: int, after: str | None = None) -> Stopped:
        """Two plain reads. What changes between them is found by the next call."""
        values = {"after": chunk_position(after), "limit": limit}
        [(edge, count)] = self._database.read(Statement("held_edge", values))
        if not count:
            return Stopped()
        values = {"after": chunk_position(after), "edge": edge}
        found = self._database.read(Statement("stopped_orders", values))
        orders = tuple((tenant, key) for tenant, key in found if key is not None)
        return Stopped(orders=orders, next=str(edge) if count == limit else None)

    def release(self, order: OrderName) -> bool:
        """Under the key's lock, after one more look."""
        freed = self._database.run(partial(release, order))
        if freed:
            self._freed(freed)
        return bool(freed)


def release(order: OrderName) -> Plan[list[Lane]]:
    """Release the first job that waits, unless another is ahead of it by now."""
    yield Statement("lock_orders", batch=Batch(("bucket",), [(lock_of(*order),)]))
    return freed_lanes((yield Statement("promote_next", batch=Batch(ORDER_COLUMNS, [order]))))
