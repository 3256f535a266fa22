"""Jobs that have to do with others: they are tied when added, and set free when one ends.

Whoever adds or ends a job of an ordering key first takes that key's lock and keeps it until the
commit, so that what is ahead of a job is decided by one at a time, in the order of commits.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from tenure.core.chain import Chained, Hold, lock_of
from tenure.core.job import NewJob
from tenure.core.shares import Lane
from tenure.stores.sql.statement import Batch, Plan, Row, Statement

ORDER_COLUMNS = ("tenant", "ordering_key")
TIE_COLUMNS = ("id", "chained", "hold")
OrderName = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Link:
    """A job that others wait for, as it was before its end."""

    id: int
    chained: int
    order: OrderName | None

    @classmethod
    def of(cls, row: Row) -> Link:
        """From a row of `chained_jobs`."""
        return cls(row[0], row[1], None if row[4] is None else (row[3], row[4]))


def prepare(jobs: Iterable[NewJob]) -> Plan[set[OrderName]]:
    """Before jobs get their ids, which then grow in the order of commits: which keys are busy."""
    orders = {_order(job) for job in jobs if job.ordering_key is not None}
    if not orders:
        return set()
    yield from _lock(orders)
    found = yield Statement("busy_orders", batch=Batch(ORDER_COLUMNS, sorted(orders)))
    return {(row[0], row[1]) for row in found}


def tie(created: Iterable[tuple[int, NewJob]], busy: set[OrderName]) -> Plan[None]:
    """The first under a free key may run, the others wait behind it."""
    ties = []
    for number, job in sorted(created):
        if job.ordering_key is None:
            continue
        chained = Chained.ORDER | Chained.SKIPS if job.skips else Chained.ORDER
        ties.append((number, int(chained), int(Hold.ORDER) if _order(job) in busy else 0))
        busy.add(_order(job))
    if ties:
        yield Statement("tie_jobs", batch=Batch(TIE_COLUMNS, ties))


def ahead(ids: Collection[int]) -> Plan[list[Link]]:
    """Before jobs end: which of them others wait for. Their keys are locked from here on."""
    if not ids:
        return []
    links = [Link.of(row) for row in (yield Statement("chained_jobs", {"ids": sorted(ids)}))]
    yield from _lock({link.order for link in links if link.order is not None})
    return links


def let_go(links: Sequence[Link]) -> Plan[list[Lane]]:
    """After they ended: the next under each key may run, unless what ended stands in the way."""
    orders = sorted({link.order for link in links if link.order is not None})
    if not orders:
        return []
    freed = yield Statement("promote_next", batch=Batch(ORDER_COLUMNS, orders))
    return [Lane(row[1], row[2], row[3]) for row in freed]


def start_anew(ids: Collection[int]) -> Plan[None]:
    """Jobs that an operator has started again wait behind whoever is at the head now."""
    if ids:
        yield Statement("hold_behind", {"ids": sorted(ids)})


def _lock(orders: Collection[OrderName]) -> Plan[None]:
    if orders:
        buckets = sorted({lock_of(*order) for order in orders})
        yield Statement("lock_orders", batch=Batch(("bucket",), [(one,) for one in buckets]))


def _order(job: NewJob) -> OrderName:
    return job.tenant, job.ordering_key or ""
