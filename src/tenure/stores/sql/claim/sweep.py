"""A sweep looks at the due index from its head, about once a second for each worker.

It puts back the jobs of lost leases, ends expired jobs, finds the lanes that exist now, and takes
from them. What a worker remembers wrongly costs time until the next sweep, never a job.
"""

from __future__ import annotations

from dataclasses import replace

from tenure.core.job import State
from tenure.stores.contract import Claim, ClaimRequest
from tenure.stores.sql.claim.capacity import capacity_for
from tenure.stores.sql.claim.claim import Elapsed, answer, claim_known, must_sweep
from tenure.stores.sql.claim.held_gates import heed_rules
from tenure.stores.sql.claim.lane_cache import LaneCache
from tenure.stores.sql.claim.lost_leases import Ended, recover_lost
from tenure.stores.sql.claim.new_lanes import look_everywhere, look_in
from tenure.stores.sql.claim.parked_gates import find_parked
from tenure.stores.sql.claim.take import take
from tenure.stores.sql.endings.endings import Endings
from tenure.stores.sql.statement import Plan, Rows, Statement
from tenure.stores.sql.write import held_jobs
from tenure.stores.sql.write.roll_up import roll_up_ended

# Bounded, so that a claim stays short however many jobs expire at once.
EXPIRED_AT_ONCE = 100


def claim(
    request: ClaimRequest, cache: LaneCache, elapsed: Elapsed, endings: Endings
) -> Plan[Claim]:
    """From known lanes; a sweep if it is due, or if they have nothing."""
    request = yield from heed_rules(request, cache, elapsed)
    if not must_sweep(request, cache, elapsed()):
        known = yield from claim_known(request, cache, elapsed)
        if known.jobs or not (request.woken or cache.timer.may_sweep(elapsed())):
            return known
    return (yield from sweep(request, cache, elapsed, endings))


def glance(request: ClaimRequest, cache: LaneCache, elapsed: Elapsed) -> Plan[Claim]:
    """After a wake-up for a lane that is unknown, or a job before its floor: look at the lanes of
    the woken queues, without a sweep.
    """
    capacity = yield from capacity_for(request, cache.paused)
    woken = [queue for queue in capacity.slots if queue in request.woken]
    taken: Rows = []
    if woken:
        lanes = yield from look_in(woken, cache)
        taken = yield from take(request, lanes, capacity, cache)
    return (yield from answer(request, taken, capacity, cache, elapsed()))


def sweep(
    request: ClaimRequest, cache: LaneCache, elapsed: Elapsed, endings: Endings
) -> Plan[Claim]:
    """Recover, expire, look, take: all in one transaction."""
    began = elapsed()
    paused = yield Statement("paused_queues")
    cache.paused = frozenset([queue for (queue,) in paused])
    capacity = yield from capacity_for(request, cache.paused)
    calm = cache.timer.is_calm(began)
    # Before the look at lanes, so that this very claim can take what comes back.
    lost = yield from recover_lost(cache.timer.back(began), endings, calm=calm)
    cache.timer.looked_back(began, quiet=not lost.found)
    cache.revive({one.lane for one in lost.released})
    yield from _expire(lost.ended, endings, calm=calm)
    taken: Rows = []
    more_parked = False
    if capacity and request.kinds:
        more_parked = yield from find_parked(request, cache)
        lanes = yield from look_everywhere(capacity.slots, cache)
        taken = yield from take(request, lanes, capacity, cache)
    cache.timer.swept(began, elapsed())
    if more_parked:
        cache.timer.sweep_soon()
    found = yield from answer(request, taken, capacity, cache, elapsed())
    released = {str(one.id): one.lane.queue for one in lost.released}
    return replace(found, ended=lost.ended, released=released)


def _expire(ended: Ended, endings: Endings, *, calm: bool) -> Plan[None]:
    """End jobs that were not started in time. Those that others wait for only if no lock is in the
    way: a sweep must not wait for another transaction.
    """
    values = {"limit": EXPIRED_AT_ONCE, "followed": sorted(endings.kinds)}
    found = yield Statement("expire_jobs", values)
    expired = [number for (number,) in found]
    if not calm:
        tied = yield Statement("expiring_tied", values)
        if links := (yield from held_jobs.ahead_now([number for (number,) in tied])):
            ids = [link.id for link in links]
            yield Statement("expire_tied", {"ids": ids})
            yield from held_jobs.let_go(links, endings)
            expired += ids
    yield from roll_up_ended(expired)
    ended += [(str(number), State.CANCELED, "expired") for number in expired]
