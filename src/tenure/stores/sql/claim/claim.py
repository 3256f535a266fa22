"""Claiming from the lanes that a worker knows; `sweep.py` looks everywhere else.

Capped tenants, shares and limits join at named points: `capacity.py`, `take.py`, `limits.py`.
"""

from __future__ import annotations

from collections.abc import Callable

from tenure.stores.contract import Claim, ClaimRequest
from tenure.stores.sql import rows
from tenure.stores.sql.claim.capacity import Capacity, capacity_for
from tenure.stores.sql.claim.lane_cache import LaneCache
from tenure.stores.sql.claim.limits import pass_gates
from tenure.stores.sql.claim.new_lanes import look_between
from tenure.stores.sql.claim.take import take
from tenure.stores.sql.statement import Plan, Rows, Statement

BEST = rows.columns("priority", "run_at", "id")
PAYLOAD = rows.columns("payload")

Elapsed = Callable[[], float]
"""Seconds on the clock that leases are judged by."""


def must_sweep(request: ClaimRequest, cache: LaneCache, now: float) -> bool:
    """Whether a sweep is due. A wake-up goes first, unless it may mean that a pause is over."""
    if request.thorough:
        return True
    woken = bool(request.woken)
    return cache.timer.sweep_due(now, later=woken) or not cache.paused.isdisjoint(request.woken)


def claim_known(request: ClaimRequest, cache: LaneCache, elapsed: Elapsed) -> Plan[Claim]:
    """From known lanes, behind their floors; drained lanes only for the slots that are left.

    A wake-up makes the drained lanes of its queues live, so that one statement answers it.
    """
    capacity = yield from capacity_for(request, cache.paused)
    if cache.live and cache.timer.glance_due(began := elapsed()):
        yield from look_between(capacity.slots, cache)
        cache.timer.glanced(began, elapsed())
    live, drained = cache.live_in(capacity.slots), cache.drained_in(capacity.slots)
    if request.unfair:  # the oldest job may be in any lane of such a queue
        live += [lane for lane in drained if lane.queue in request.unfair]
        drained = [lane for lane in drained if lane.queue not in request.unfair]
    if request.woken:
        live += [lane for lane in drained if lane.queue in request.woken]
        drained = []
    taken = yield from take(request, live, capacity, cache)
    if drained and capacity and (more := (yield from take(request, drained, capacity, cache))):
        taken = sorted(taken + more, key=BEST)
    cache.timer.took(len(taken))
    return (yield from answer(request, taken, capacity, cache, elapsed()))


def answer(
    request: ClaimRequest, taken: Rows, capacity: Capacity, cache: LaneCache, now: float
) -> Plan[Claim]:
    """The jobs that the limits let through, best first, with their payloads.

    `taken` is best first already.
    """
    look_in: float | None = None
    if request.limits:
        passed = yield from pass_gates(request, taken, capacity, cache, now)
        taken = taken if passed.rows is taken else sorted(passed.rows, key=BEST)
        look_in = passed.look_in
    large: dict[int, str] = {}
    if None in map(PAYLOAD, taken):  # some are stored apart from their rows
        ids = [row.id for row in rows.claimed_rows(taken) if row.payload is None]
        large = dict((yield Statement("read_payloads", {"ids": ids})))
    held = cache.rules.take_new() if cache.rules.new else ()
    return Claim(rows.claimed(taken, request.owner, large), look_in=look_in, held=held)
