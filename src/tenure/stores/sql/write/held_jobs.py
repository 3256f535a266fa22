"""Jobs that have to do with others: they are tied when added, and set free when one ends.

Whoever adds or ends a job of an ordering key first takes that key's lock and keeps it until the
commit, so that what is ahead of a job is decided by one at a time, in the order of commits.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from operator import itemgetter

from tenure.core.job import NewJob
from tenure.core.rules.limits import gate_of
from tenure.core.rules.order import Chained, Hold, lock_of
from tenure.core.rules.shares import Lane
from tenure.stores.sql.statement import Batch, Plan, Row, Statement
from tenure.stores.sql.write import dependencies as after
from tenure.stores.sql.write.release_held import call_off, kept_back, release

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


@dataclass(frozen=True, slots=True)
class Ahead:
    """What stood before new jobs when they were added: busy keys, and those that they wait for."""

    busy: set[OrderName]
    awaited: after.Awaited


def prepare(jobs: Sequence[NewJob]) -> Plan[Ahead]:
    """Before jobs get their ids, which then grow in the order of commits."""
    orders = {_order(job) for job in jobs if job.ordering_key is not None}
    yield from _lock(orders)
    awaited = yield from after.look(jobs)
    if not orders:
        return Ahead(set(), awaited)
    found = yield Statement("busy_orders", batch=Batch(ORDER_COLUMNS, sorted(orders)))
    return Ahead({(row[0], row[1]) for row in found}, awaited)


def tie(created: Sequence[tuple[int, NewJob]], before: Ahead) -> Plan[None]:
    """Who must wait is held; who waits for what has failed already is called off."""
    doomed = after.doomed(created, before.awaited)
    waiting = [(number, job) for number, job in created if number not in doomed]
    ties = after.ties(waiting, before.awaited)
    for number, tied in _ordered(created, before.busy).items():
        chained, hold = ties.get(number, (Chained(0), Hold(0)))
        ties[number] = (chained | tied[0], hold | tied[1])
    if ties:
        lines = [(number, int(ties[number][0]), int(ties[number][1])) for number in sorted(ties)]
        yield Statement("tie_jobs", batch=Batch(TIE_COLUMNS, lines))
    if marks := [(number, gate_of(job.kind, job.limit_key)) for number, job in limited(created)]:
        yield Statement("mark_gates", batch=Batch(("id", "gate"), marks))
    yield from after.note(waiting, before.awaited)
    ended = yield from call_off(doomed)
    yield from let_go((yield from ahead(ended)))


def limited(created: Sequence[tuple[int, NewJob]]) -> list[tuple[int, NewJob]]:
    """Those that are limited by a key."""
    return sorted((pair for pair in created if pair[1].limit_key is not None), key=itemgetter(0))


def _ordered(created: Sequence[tuple[int, NewJob]], busy: set[OrderName]) -> after.Ties:
    """The first under a free key may run, the others wait behind it."""
    ties: after.Ties = {}
    for number, job in sorted(created, key=itemgetter(0)):
        if job.ordering_key is None:
            continue
        chained = Chained.ORDER | Chained.SKIPS if job.skips else Chained.ORDER
        ties[number] = (chained, Hold.ORDER if _order(job) in busy else Hold(0))
        busy.add(_order(job))
    return ties


def ahead(ids: Collection[int]) -> Plan[list[Link]]:
    """Before jobs end: which of them others wait for. Their keys are locked from here on."""
    if not ids:
        return []
    links = [Link.of(row) for row in (yield Statement("chained_jobs", {"ids": sorted(ids)}))]
    yield from _lock({link.order for link in links if link.order is not None})
    return links


def ahead_now(ids: Collection[int]) -> Plan[list[Link]]:
    """The same without waiting: those that may end now. The others are tied to something that
    somebody else's transaction has locked: their key, or a job that waits for them.
    """
    if not ids:
        return []
    links = [Link.of(row) for row in (yield Statement("chained_jobs", {"ids": sorted(ids)}))]
    ours = yield from _try_lock({link.order for link in links if link.order is not None})
    free = [link for link in links if link.order is None or lock_of(*link.order) in ours]
    awaited = [link.id for link in free if link.chained & Chained.AWAITED]
    kept = yield from kept_back(awaited)
    return [link for link in free if link.id not in kept]


def let_go(links: Sequence[Link], ended: Collection[int] | None = None) -> Plan[list[Lane]]:
    """After they ended: who waited for it may run, unless what ended stands in the way.

    `ended` are those that others may wait for, where more are known than the links tell.
    """
    if ended is None:
        ended = [link.id for link in links if link.chained & Chained.AWAITED]
    freed: list[Lane] = []
    while True:  # those called off have others behind them in turn: nobody is left waiting
        freed += yield from _promote(links)
        lanes, doomed = yield from release(ended)
        freed += lanes
        ended = yield from call_off(doomed)
        if not ended:
            return freed
        links = yield from ahead(ended)


def _promote(links: Sequence[Link]) -> Plan[list[Lane]]:
    """The next under each key may run, unless what ended stands in the way."""
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


def _try_lock(orders: Collection[OrderName]) -> Plan[set[int]]:
    """The locks that are ours now. One that was never there is made, as nobody can have it."""
    if not orders:
        return set()
    buckets = sorted({lock_of(*order) for order in orders})
    ours = {row[0] for row in (yield Statement("try_orders", {"ids": buckets}))}
    if left := [one for one in buckets if one not in ours]:
        known = {row[0] for row in (yield Statement("known_orders", {"ids": left}))}
        if new := [(one,) for one in left if one not in known]:
            yield Statement("lock_orders", batch=Batch(("bucket",), new))
            ours.update(one for (one,) in new)
    return ours


def _order(job: NewJob) -> OrderName:
    return job.tenant, job.ordering_key or ""
