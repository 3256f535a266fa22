"""Ordering keys that have stopped: jobs wait behind each other, and nobody is at their head.

The end of a head lets the next one go in its own transaction, so this should never be. Whatever has
caused it, here it is found and mended.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from tenure.core.rules.order import lock_of
from tenure.core.rules.shares import Lane
from tenure.stores.contract.parts import OrderName, Stopped
from tenure.stores.sql.database import Database
from tenure.stores.sql.statement import Batch, Plan, Statement
from tenure.stores.sql.write.held_jobs import ORDER_COLUMNS
from tenure.stores.sql.write.purge import position

Freed = Callable[[Sequence[Lane]], None]


class SqlOrders:
    """See `OrderStore`. `freed` is told of the lanes that got a job."""

    def __init__(self, database: Database, freed: Freed) -> None:
        self._database = database
        self._freed = freed

    def stopped(self, limit: int, after: str | None = None) -> Stopped:
        """Two plain reads, each of one moment: between them nothing needs to stand still."""
        values = {"after": position(after), "limit": limit}
        [(edge, count)] = self._database.read(Statement("held_edge", values))
        if not count:
            return Stopped()
        values = {"after": position(after), "edge": edge}
        found = self._database.read(Statement("stopped_orders", values))
        orders = tuple((row[0], row[1]) for row in found if row[1] is not None)
        return Stopped(orders=orders, next=str(edge) if count == limit else None)

    def release(self, order: OrderName) -> bool:
        """Under the key's lock, where it is looked at once more."""
        freed = self._database.run(partial(release, order))
        if freed:
            self._freed(freed)
        return bool(freed)


def release(order: OrderName) -> Plan[list[Lane]]:
    """The first that waits may run, if nobody is ahead of it by now."""
    yield Statement("lock_orders", batch=Batch(("bucket",), [(lock_of(*order),)]))
    found = yield Statement("promote_next", batch=Batch(ORDER_COLUMNS, [order]))
    return [Lane(row[1], row[2], row[3]) for row in found]
