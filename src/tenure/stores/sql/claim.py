"""Claiming: first what is known to be due, lane by lane; now and then a sweep from the head.

A sweep takes up what others left behind (leases that ran out), ends what expired, looks which
lanes there are, and takes from them without their floors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from itertools import groupby
from operator import itemgetter

from tenure.core.clock import seconds_to_micros
from tenure.core.failure import Failure
from tenure.core.job import State
from tenure.core.lease import Lease, Recovery, recover
from tenure.core.settlement import Settlement
from tenure.core.shares import MANY, Lane, Take, by_priority
from tenure.stores.contract import Claim, ClaimRequest
from tenure.stores.sql import chain, rows
from tenure.stores.sql.free import Free, free_for
from tenure.stores.sql.gaps import gaps
from tenure.stores.sql.gates import Passed, find_parked, pass_gates
from tenure.stores.sql.memory import BEFORE_ALL, Memory, Place
from tenure.stores.sql.settle import settle
from tenure.stores.sql.statement import WAITED, Batch, Plan, Row, Rows, Statement

RECOVERED_AT_ONCE = 100
EXPIRED_AT_ONCE = 100
LANES_AT_ONCE = 512
LOOKS = 4
NEARLY = 0.5
LOOK_COLUMNS = ("queue", "after_priority", "after_tenant")
GAP_COLUMNS = ("queue", "priority", "from_tenant", "to_tenant")
LEVEL_COLUMNS = ("queue", "above", "below")
TAKE_COLUMNS = ("queue", "priority", "tenant", "take", "floor_run_at", "floor_id")

LANE = itemgetter(4, 6, 7)
POSITION = itemgetter(17, 0)
BEST = itemgetter(6, 17, 0)

Ended = list[tuple[str, State, str]]
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
    live = [lane for lane in memory.live if lane.queue in free.slots]
    drained = [lane for lane in memory.drained if lane.queue in free.slots]
    if request.woken:
        live += [lane for lane in drained if lane.queue in request.woken]
        drained = []
    taken = yield from _take(request, live, free, memory)
    if drained and free:
        taken += yield from _take(request, drained, free, memory)
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
        taken = yield from _take(request, memory.saw_more(found), free, memory)
    return (yield from _answer(request, taken, free, memory, elapsed()))


def sweep(request: ClaimRequest, memory: Memory, elapsed: Elapsed) -> Plan[Claim]:
    """Recover, expire, look, take: all in one transaction."""
    began = elapsed()
    memory.paused = frozenset([row[0] for row in (yield Statement("paused_queues"))])
    free = yield from free_for(request, _open_slots(request, memory))
    queues = list(free.slots)
    ended: Ended = []
    taken = yield from _recover(request, free, ended, memory.lookout.back(began, queues))
    memory.lookout.looked_back(began, queues, quiet=not taken and not ended)
    again = frozenset(str(row[0]) for row in taken)
    yield from _expire(ended)
    if free and request.kinds:
        yield from find_parked(request, memory)
        lanes = yield from _look(free.slots, memory)
        taken += yield from _take(request, lanes, free, memory)
    memory.lookout.swept(began, elapsed())
    answer = yield from _answer(request, taken, free, memory, elapsed())
    return replace(answer, ended=ended, again=again)


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
    """Those that the limits let through, best first; with payloads that live beside their rows."""
    taken.sort(key=BEST)
    passed = Passed(taken)
    if request.limits:
        passed = yield from pass_gates(request, taken, free, memory, now)
        if passed.rows is not taken:
            passed.rows.sort(key=BEST)
    large = yield from read_large(row[0] for row in passed.rows if row[5] is None)
    return Claim([rows.claimed(row, large) for row in passed.rows], look_in=passed.look_in)


def read_large(ids: Iterable[int]) -> Plan[dict[int, str]]:
    """Payloads that live beside their rows."""
    wanted = list(ids)
    if not wanted:
        return {}
    return dict((yield Statement("read_payloads", {"ids": wanted})))


def _recover(request: ClaimRequest, free: Free, ended: Ended, back: float) -> Plan[Rows]:
    """Jobs whose lease ran out: again at once and without backoff, or buried, or cancelled."""
    asked = {"kinds": list(request.kinds), "queues": list(free.slots), "limit": RECOVERED_AT_ONCE}
    bounds = {WAITED: 0, "back": seconds_to_micros(back)}
    overdue = yield Statement("overdue_leases", {**asked, **bounds})
    fates = [(row, _fate(row)) for row in overdue]
    over = [_burial(row, fate) for row, fate in fates if fate is not Recovery.AGAIN]
    if over:
        yield from settle(over)
        ended += [(end.lease.job_id, end.state, end.reason or "") for end in over]
    left = [row for row, fate in fates if fate is Recovery.AGAIN and request.may_take(row[7])]
    again = [row for row in left if free.take(row[6], row[7], 1)]
    if not again:
        return []
    lines = [(row[0], row[1], 0, "crashed", None, _crash(row).to_json()) for row in again]
    yield Statement("add_history", batch=Batch(rows.HISTORY_COLUMNS, lines))
    return (yield Statement("claim_again", {"ids": [row[0] for row in again], **_values(request)}))


def _fate(row: Row) -> Recovery:
    return recover(attempt=row[3], max_attempts=row[4], cancel_requested=bool(row[5]))


def _burial(row: Row, fate: Recovery) -> Settlement:
    canceled = fate is Recovery.CANCEL
    return Settlement(
        lease=Lease(str(row[0]), row[1], row[2]),
        state=State.CANCELED if canceled else State.DEAD,
        entry="crashed",
        reason="canceled" if canceled else "worker_crashed",
        failure=_crash(row),
    )


def _crash(row: Row) -> Failure:
    message = f"{row[2]} stopped renewing its lease during attempt {row[3]}"
    return Failure(type="WorkerCrashed", message=message, code="worker_crashed")


def _expire(ended: Ended) -> Plan[None]:
    expired = yield Statement("expire_jobs", {"limit": EXPIRED_AT_ONCE})
    yield from chain.let_go((yield from chain.ahead([row[0] for row in expired])))
    ended += [(str(row[0]), State.CANCELED, "expired") for row in expired]


def _take(request: ClaimRequest, lanes: list[Lane], free: Free, memory: Memory) -> Plan[Rows]:
    """Level by level, best priority first, until the slots are full; among very many lanes, nearly
    full: each further round is a statement for what a few of them did not have.
    """
    taken: Rows = []
    if request.shard is not None:
        lanes = [lane for lane in lanes if request.may_take(lane.tenant)]
    enough = free.total * NEARLY if len(lanes) > MANY else free.total
    for level in by_priority(lanes):
        while level and len(taken) < enough and (takes := _shares(request, level, free, memory)):
            got = yield from _take_shares(request, takes, memory)
            level = _which_may_have_more(request, level, takes, got, free, memory)
            taken += got
    return taken


def _shares(request: ClaimRequest, level: list[Lane], free: Free, memory: Memory) -> list[Take]:
    """How many of each lane; a tenant at its cap is not scanned at all."""
    if not free.tenants:
        return memory.tally.divide(level, free.slots, request.weights)
    level = [lane for lane in level if free.has(lane.tenant)]
    left = dict(free.tenants)
    takes: list[Take] = []
    for take in memory.tally.divide(level, free.slots, request.weights):
        number = min(take.number, left.get(take.lane.tenant, take.number))
        if number > 0:
            takes.append(Take(take.lane, number))
            left[take.lane.tenant] = left.get(take.lane.tenant, number) - number
    return takes


def _take_shares(request: ClaimRequest, takes: list[Take], memory: Memory) -> Plan[Rows]:
    """One share of each lane, from behind its floor, in the order of the index."""
    values = {"kinds": list(request.kinds), **_values(request)}
    floor = memory.floor
    shares = Batch(
        TAKE_COLUMNS,
        [
            (one.lane.queue, one.lane.priority, one.lane.tenant, one.number, *floor(one.lane))
            for one in takes
        ],
    )
    if request.limits.kinds:
        got = yield Statement("claim_counted", values, shares)
    else:
        got = yield Statement("claim_take", values, shares)
    got.sort(key=POSITION)
    return got


def _which_may_have_more(
    request: ClaimRequest,
    level: list[Lane],
    takes: list[Take],
    got: Rows,
    free: Free,
    memory: Memory,
) -> list[Lane]:
    """What one lane leaves over goes to the others that gave all they were asked for."""
    found = {Lane(*lane): list(part) for lane, part in groupby(sorted(got, key=LANE), key=LANE)}
    full = set(level).difference(take.lane for take in takes)
    for take in takes:
        mine = found.get(take.lane, [])
        free.give_back(take.lane.queue, take.lane.tenant, -len(mine))
        memory.tally.charge(take.lane, len(mine), request.weights)
        memory.took(take.lane, _position(mine), full=len(mine) == take.number)
        if len(mine) == take.number:
            full.add(take.lane)
    return [lane for lane in level if lane in full]


def _position(mine: Rows) -> tuple[int, int] | None:
    """Of the last of them; they are in order."""
    return (mine[-1][17], mine[-1][0]) if mine else None


def _values(request: ClaimRequest) -> dict[str, object]:
    return {"limited": list(request.limits.kinds), **rows.lease_values(request)}
