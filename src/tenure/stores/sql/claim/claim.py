"""Claiming: first what is known to be due, lane by lane; now and then a sweep from the head.

A sweep puts back what others left behind (leases that ran out), ends what expired, looks which
lanes there are, and takes from them without their floors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from operator import itemgetter

from tenure.core.job import State
from tenure.core.rules.shares import Lane
from tenure.stores.contract import Claim, ClaimRequest
from tenure.stores.sql import rows
from tenure.stores.sql.claim.capacity import Free, free_for
from tenure.stores.sql.claim.lane_cache import BEFORE_ALL, Memory, Place
from tenure.stores.sql.claim.lane_gaps import gaps
from tenure.stores.sql.claim.limits import Passed, find_parked, pass_gates
from tenure.stores.sql.claim.lost_leases import Ended, recover_lost
from tenure.stores.sql.claim.take import take
from tenure.stores.sql.statement import Batch, Plan, Rows, Statement
from tenure.stores.sql.write import held_jobs as chain

EXPIRED_AT_ONCE = 100
LANES_AT_ONCE = 512
LOOKS = 4
LOOK_COLUMNS = ("queue", "after_priority", "after_tenant")
GAP_COLUMNS = ("queue", "priority", "from_tenant", "to_tenant")
LEVEL_COLUMNS = ("queue", "above", "below")

BEST = itemgetter(5, 12, 0)

Elapsed = Callable[[], float]


def claim(request: ClaimRequest, memory: Memory, elapsed: Elapsed) -> Plan[Claim]:
    """What is known to be due; where that is nothing, or it is time, a sweep."""
    if not must_sweep(request, memory, elapsed()):
        known = yield from claim_known(request, memory, elapsed)
        if known.jobs or not (request.woken or memory.lookout.may_sweep(elapsed())):
            return known
    return (yield from sweep(request, memory, elapsed))


def must_sweep(request: ClaimRequest, memory: Memory, now: float) -> bool:
    """It is time; a wake-up goes first, unless it may be the news that a pause is over."""
    if request.thorough:
        return True
    woken = bool(request.woken)
    return memory.lookout.sweep_due(now, later=woken) or not memory.paused.isdisjoint(request.woken)


def claim_known(request: ClaimRequest, memory: Memory, elapsed: Elapsed) -> Plan[Claim]:
    """From the lanes that are known, behind their floors; drained ones only for what is left.

    A wake-up makes its queue's drained lanes as good as live: it is answered in one statement.
    """
    free = yield from free_for(request, _open_slots(request, memory))
    if memory.live and memory.lookout.glance_due(began := elapsed()):
        yield from _glance(free.slots, memory)
        memory.lookout.glanced(began, elapsed())
    live, drained = memory.live_in(free.slots), memory.drained_in(free.slots)
    if request.unfair:  # the oldest may be in any lane
        live += [lane for lane in drained if lane.queue in request.unfair]
        drained = [lane for lane in drained if lane.queue not in request.unfair]
    if request.woken:
        live += [lane for lane in drained if lane.queue in request.woken]
        drained = []
    taken = yield from take(request, live, free, memory)
    if drained and free and (more := (yield from take(request, drained, free, memory))):
        taken = sorted(taken + more, key=BEST)
    memory.lookout.took(len(taken))
    return (yield from _answer(request, taken, free, memory, elapsed()))


def glance(request: ClaimRequest, memory: Memory, elapsed: Elapsed) -> Plan[Claim]:
    """A wake-up for a lane that is not known, or behind its floor: look, without a sweep."""
    free = yield from free_for(request, _open_slots(request, memory))
    places = [(queue, *BEFORE_ALL) for queue in free.slots if queue in request.woken]
    taken: Rows = []
    if places:
        values = {"lanes": LANES_AT_ONCE}
        found = yield Statement("claim_lanes", values, Batch(LOOK_COLUMNS, places))
        taken = yield from take(request, memory.saw_more(found), free, memory)
    return (yield from _answer(request, taken, free, memory, elapsed()))


def sweep(request: ClaimRequest, memory: Memory, elapsed: Elapsed) -> Plan[Claim]:
    """Recover, expire, look, take: all in one transaction."""
    began = elapsed()
    memory.paused = frozenset([row[0] for row in (yield Statement("paused_queues"))])
    free = yield from free_for(request, _open_slots(request, memory))
    calm = memory.lookout.is_calm(began)
    lost = yield from recover_lost(memory.lookout.back(began), calm=calm)
    memory.lookout.looked_back(began, quiet=not lost.found)
    memory.revive({one.lane for one in lost.released})
    yield from _expire(lost.ended, calm=calm)
    taken: Rows = []
    if free and request.kinds:
        yield from find_parked(request, memory)
        lanes = yield from _look(free.slots, memory)
        taken += yield from take(request, lanes, free, memory)
    memory.lookout.swept(began, elapsed())
    answer = yield from _answer(request, taken, free, memory, elapsed())
    released = {str(one.id): one.lane.queue for one in lost.released}
    return replace(answer, ended=lost.ended, released=released)


def _look(queues: Iterable[str], memory: Memory) -> Plan[list[Lane]]:
    """Which lanes there are, some hundred at a time, from the head; those with something due.

    Where there are more than a few looks show, the last one goes on where the sweep before ended.
    """
    memory.look_anew()
    lanes: list[Lane] = []
    places = dict.fromkeys(queues, BEFORE_ALL)
    for number in range(LOOKS):
        after = Batch(LOOK_COLUMNS, [(queue, *place) for queue, place in places.items()])
        found = yield Statement("claim_lanes", {"lanes": LANES_AT_ONCE}, after)
        lanes += memory.saw_more(found)
        places = _ends(found)
        if number == LOOKS - 2:
            places = memory.resumed(places)
        if not places:
            break
    memory.stopped.update(places)
    return lanes


def _glance(queues: Collection[str], memory: Memory) -> Plan[None]:
    """Lanes that have come between those we know: others' jobs must not wait for a sweep."""
    between, levels = gaps([lane for lane in memory.known if lane.queue in queues], memory.glances)
    memory.glances += 1
    if between:
        memory.saw_more((yield Statement("claim_gaps", batch=Batch(GAP_COLUMNS, between))))
    if levels:
        memory.saw_more((yield Statement("claim_levels", batch=Batch(LEVEL_COLUMNS, levels))))


def _ends(found: Rows) -> dict[str, Place]:
    """The last lane of each queue that may have more of them."""
    counts = Counter(row[0] for row in found)
    last = {row[0]: (row[1], row[2]) for row in found}
    return {queue: place for queue, place in last.items() if counts[queue] >= LANES_AT_ONCE}


def _open_slots(request: ClaimRequest, memory: Memory) -> dict[str, int]:
    return {
        queue: free
        for queue, free in request.slots.items()
        if free > 0 and queue not in memory.paused
    }


def _answer(
    request: ClaimRequest, taken: Rows, free: Free, memory: Memory, now: float
) -> Plan[Claim]:
    """Those that the limits let through, best first; with payloads that live beside their rows.

    `taken` is best first already.
    """
    passed = Passed(taken)
    if request.limits:
        passed = yield from pass_gates(request, taken, free, memory, now)
        if passed.rows is not taken:
            passed.rows.sort(key=BEST)
    large = yield from read_large([row[0] for row in passed.rows if row[4] is None])
    return Claim(rows.claimed(passed.rows, request.owner, large), look_in=passed.look_in)


def read_large(ids: list[int]) -> Plan[dict[int, str]]:
    """Payloads that live beside their rows."""
    return dict((yield Statement("read_payloads", {"ids": ids}))) if ids else {}


def _expire(ended: Ended, *, calm: bool) -> Plan[None]:
    """What somebody waits for only where that can be done without waiting for a lock."""
    expired = [row[0] for row in (yield Statement("expire_jobs", {"limit": EXPIRED_AT_ONCE}))]
    if not calm:
        tied = yield Statement("expiring_tied", {"limit": EXPIRED_AT_ONCE})
        if links := (yield from chain.ahead_now([row[0] for row in tied])):
            ids = [link.id for link in links]
            yield Statement("expire_tied", {"ids": ids})
            yield from chain.let_go(links)
            expired += ids
    ended += [(str(number), State.CANCELED, "expired") for number in expired]
