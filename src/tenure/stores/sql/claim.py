"""Claiming: first what is known to be due, lane by lane; now and then a sweep from the head.

A sweep takes up what others left behind (leases that ran out), ends what expired, looks which
lanes there are, and takes from them without their floors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from itertools import islice
from operator import itemgetter

from tenure.core.clock import seconds_to_micros
from tenure.core.failure import Failure
from tenure.core.job import State
from tenure.core.lease import Lease, Recovery, recover
from tenure.core.settlement import Settlement
from tenure.core.shares import Lane
from tenure.stores.contract import Claim, ClaimRequest
from tenure.stores.sql import chain, rows
from tenure.stores.sql.free import Free, free_for
from tenure.stores.sql.gaps import gaps
from tenure.stores.sql.gates import Passed, find_parked, pass_gates
from tenure.stores.sql.memory import BEFORE_ALL, Memory, Place
from tenure.stores.sql.settle import settle
from tenure.stores.sql.statement import WAITED, Batch, Plan, Row, Rows, Statement
from tenure.stores.sql.take import take, taken_values

RECOVERED_AT_ONCE = 100
FURTHER = (RECOVERED_AT_ONCE, 1_000, 10_000)
EXPIRED_AT_ONCE = 100
LANES_AT_ONCE = 512
LOOKS = 4
LOOK_COLUMNS = ("queue", "after_priority", "after_tenant")
GAP_COLUMNS = ("queue", "priority", "from_tenant", "to_tenant")
LEVEL_COLUMNS = ("queue", "above", "below")

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
    if request.unfair:  # the oldest may be in any lane
        live += [lane for lane in drained if lane.queue in request.unfair]
        drained = [lane for lane in drained if lane.queue not in request.unfair]
    if request.woken:
        live += [lane for lane in drained if lane.queue in request.woken]
        drained = []
    taken = yield from take(request, live, free, memory)
    if drained and free:
        taken += yield from take(request, drained, free, memory)
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
    queues = list(free.slots)
    ended: Ended = []
    overdue = yield from _overdue(request, free, memory.lookout.back(began, queues))
    memory.lookout.looked_back(began, queues, quiet=not overdue)
    taken = yield from _recover(request, free, ended, overdue)
    again = frozenset(str(row[0]) for row in taken)
    yield from _expire(ended)
    if free and request.kinds:
        yield from find_parked(request, memory)
        lanes = yield from _look(free.slots, memory)
        taken += yield from take(request, lanes, free, memory)
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


def _overdue(request: ClaimRequest, free: Free, back: float) -> Plan[Rows]:
    """Leases that ran out and are ours to end or to take up, now or when there is room; looked for
    further on where many that cannot be taken now stand before those that can.
    """
    asked = {"kinds": list(request.kinds), "queues": list(free.slots), WAITED: 0}
    enough = min(free.total, RECOVERED_AT_ONCE)
    ours: Rows = []
    for limit in FURTHER:
        values = {**asked, "back": seconds_to_micros(back), "limit": limit}
        found = yield Statement("overdue_leases", values)
        ours = [row for row in found if _over(row) or request.may_take(row[7])]
        trial = Free(free.slots, free.tenants)
        ready = sum(_over(row) or trial.take(row[6], row[7], 1) for row in ours)
        if ready >= enough or len(found) < limit:
            break
    return ours


def _recover(request: ClaimRequest, free: Free, ended: Ended, overdue: Rows) -> Plan[Rows]:
    """Jobs whose lease ran out: again at once and without backoff, or buried, or cancelled."""
    over = [_burial(row, _fate(row)) for row in overdue if _over(row)][:RECOVERED_AT_ONCE]
    if over:
        yield from settle(over)
        ended += [(end.lease.job_id, end.state, end.reason or "") for end in over]
    left = (row for row in overdue if not _over(row))
    fitting = (row for row in left if free.take(row[6], row[7], 1))
    again = list(islice(fitting, RECOVERED_AT_ONCE))  # what is not looked at keeps its slot free
    if not again:
        return []
    lines = [(row[0], row[1], 0, "crashed", None, _crash(row).to_json()) for row in again]
    yield Statement("add_history", batch=Batch(rows.HISTORY_COLUMNS, lines))
    values = {"ids": [row[0] for row in again], **taken_values(request)}
    return (yield Statement("claim_again", values))


def _over(row: Row) -> bool:
    """Whether there is nothing left to try."""
    return _fate(row) is not Recovery.AGAIN


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
