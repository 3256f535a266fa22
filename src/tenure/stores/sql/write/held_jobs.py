"""Jobs that depend on others: held when they are added, released when one of those ends.

Whoever adds or ends a job of an ordering key first takes the key's lock and keeps it until the
commit. So one transaction at a time decides what is ahead of a job, in the order of commits.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from operator import itemgetter

from tenure.core.job import NewJob, State
from tenure.core.rules.limits import gate_of
from tenure.core.rules.order import Chained, Hold, lock_of
from tenure.core.rules.shares import Lane
from tenure.stores.sql import rows
from tenure.stores.sql.endings.endings import Endings
from tenure.stores.sql.statement import Batch, Plan, Statement
from tenure.stores.sql.write import dependencies
from tenure.stores.sql.write.release_held import call_off, kept_back, release

ORDER_COLUMNS = ("tenant", "ordering_key")
TIE_COLUMNS = ("id", "chained", "hold")
OrderName = tuple[str, str]
BY_NUMBER = itemgetter(0)


@dataclass(frozen=True, slots=True)
class Link:
    """A job that others wait for or that a feature follows, as it was before its end."""

    id: int
    chained: int
    kind: str
    order: OrderName | None


@dataclass(frozen=True, slots=True)
class Ahead:
    """What was ahead of new jobs when they were added: busy keys, and jobs they wait for."""

    busy: set[OrderName]
    awaited: dependencies.Awaited


def prepare(jobs: Sequence[NewJob]) -> Plan[Ahead]:
    """Take the locks before the jobs get their ids, so that ids grow in the order of commits."""
    orders = {_order(job) for job in jobs if job.ordering_key is not None}
    yield from _lock(orders)
    awaited = yield from dependencies.lock_awaited(jobs)
    if not orders:
        return Ahead(set(), awaited)
    found = yield Statement("busy_orders", batch=Batch(ORDER_COLUMNS, sorted(orders)))
    return Ahead({(tenant, key) for tenant, key in found}, awaited)


def tie(created: Sequence[tuple[int, NewJob]], before: Ahead, endings: Endings) -> Plan[None]:
    """Hold the jobs that must wait; cancel those that wait for one that has failed already."""
    doomed = dependencies.doomed(created, before.awaited)
    waiting = [(number, job) for number, job in created if number not in doomed]
    ties = dependencies.ties(waiting, before.awaited)
    for number, (behind, held) in _ordered(created, before.busy).items():
        chained, hold = ties.get(number, (Chained(0), Hold(0)))
        ties[number] = (chained | behind, hold | held)
    if ties:
        lines = sorted(
            (number, int(chained), int(hold)) for number, (chained, hold) in ties.items()
        )
        yield Statement("tie_jobs", batch=Batch(TIE_COLUMNS, lines))
    yield from endings.mark_new(created)
    if marks := limit_marks(created):
        yield Statement("mark_gates", batch=Batch(("id", "gate"), marks))
    yield from dependencies.write_dependencies(waiting, before.awaited)
    ended = yield from call_off(doomed)
    links = yield from ahead(ended)
    yield from endings.ended(links, State.QUEUED)
    yield from let_go(links, endings)


def limit_marks(created: Sequence[tuple[int, NewJob]]) -> list[tuple[int, str]]:
    """The limit gate of each job that has a limit key."""
    return sorted(
        (number, gate_of(job.kind, job.limit_key))
        for number, job in created
        if job.limit_key is not None
    )


def _ordered(created: Sequence[tuple[int, NewJob]], busy: set[OrderName]) -> dependencies.Ties:
    """The first job under a free key may run, the others wait behind it."""
    ties: dependencies.Ties = {}
    for number, job in sorted(created, key=BY_NUMBER):
        if job.ordering_key is None:
            continue
        chained = Chained.ORDER | Chained.SKIPS if job.skips else Chained.ORDER
        ties[number] = (chained, Hold.ORDER if _order(job) in busy else Hold(0))
        busy.add(_order(job))
    return ties


def ahead(ids: Collection[int]) -> Plan[list[Link]]:
    """Before jobs end: those that others wait for. Locks their ordering keys."""
    links = yield from _links(ids)
    yield from _lock({link.order for link in links if link.order is not None})
    return links


def ahead_now(ids: Collection[int]) -> Plan[list[Link]]:
    """The same without waiting: only those that may end now. The others are tied to an ordering
    key or a waiting job that another transaction has locked.
    """
    links = yield from _links(ids)
    ours = yield from _try_lock({link.order for link in links if link.order is not None})
    free = [link for link in links if link.order is None or lock_of(*link.order) in ours]
    awaited = [link.id for link in free if link.chained & Chained.AWAITED]
    kept = yield from kept_back(awaited)
    return [link for link in free if link.id not in kept]


def _links(ids: Collection[int]) -> Plan[list[Link]]:
    if not ids:
        return []
    found = yield Statement("chained_jobs", {"ids": sorted(ids)})
    return [
        Link(number, chained, kind, None if key is None else (tenant, key))
        for number, chained, kind, tenant, key in found
    ]


def let_go(
    links: Sequence[Link], endings: Endings, ended: Collection[int] | None = None
) -> Plan[list[Lane]]:
    """After they ended: release whoever waited for them; answer the lanes that got a job.

    `ended` names those that others may wait for, where more are known than the links tell.
    """
    if ended is None:
        ended = [link.id for link in links if link.chained & Chained.AWAITED]
    freed: list[Lane] = []
    while True:  # a job that is called off has others behind it in turn
        freed += yield from _promote(links)
        lanes, doomed = yield from release(ended)
        freed += lanes
        if not doomed:
            return freed
        yield from endings.mark(doomed)
        yield from endings.check((yield from _links(doomed)))
        ended = yield from call_off(doomed)
        links = yield from ahead(ended)
        yield from endings.ended(links, State.QUEUED)


def _promote(links: Sequence[Link]) -> Plan[list[Lane]]:
    """Let the next job under each key run, unless what ended blocks the key."""
    orders = sorted({link.order for link in links if link.order is not None})
    if not orders:
        return []
    return rows.freed_lanes((yield Statement("promote_next", batch=Batch(ORDER_COLUMNS, orders))))


def start_anew(ids: Collection[int]) -> Plan[None]:
    """Jobs that an operator has started again wait behind the present head of their key."""
    if ids:
        yield Statement("hold_behind", {"ids": sorted(ids)})


def _lock(orders: Collection[OrderName]) -> Plan[None]:
    if orders:
        buckets = sorted({lock_of(*order) for order in orders})  # sorted: no deadlocks
        yield Statement("lock_orders", batch=Batch(("bucket",), [(one,) for one in buckets]))


def _try_lock(orders: Collection[OrderName]) -> Plan[set[int]]:
    """The locks that are ours now. A missing lock row is created: nobody can hold it."""
    if not orders:
        return set()
    buckets = sorted({lock_of(*order) for order in orders})
    ours = {bucket for (bucket,) in (yield Statement("try_orders", {"ids": buckets}))}
    if left := [one for one in buckets if one not in ours]:
        known = {bucket for (bucket,) in (yield Statement("known_orders", {"ids": left}))}
        if new := [(one,) for one in left if one not in known]:
            yield Statement("lock_orders", batch=Batch(("bucket",), new))
            ours.update(one for (one,) in new)
    return ours


def _order(job: NewJob) -> OrderName:
    return job.tenant, job.ordering_key or ""
