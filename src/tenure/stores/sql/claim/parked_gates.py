"""Jobs that are parked at a limit: found by a sweep, and claimed when there is room."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from tenure.core.rules.shares import Lane, by_priority
from tenure.stores.contract import ClaimRequest
from tenure.stores.sql import rows
from tenure.stores.sql.claim.capacity import Capacity
from tenure.stores.sql.claim.lane_cache import LaneCache, LanePosition
from tenure.stores.sql.claim.limit_gate import SPAN_COLUMNS, LimitGates
from tenure.stores.sql.claim.parked_jobs import GATES_AT_ONCE
from tenure.stores.sql.rows import ClaimedRow
from tenure.stores.sql.statement import Batch, Plan, Rows, Statement

LANES_AT_ONCE = 128
# A limit was removed, or a hold is over: the parked jobs return in chunks, one a sweep.
UNPARKED_AT_ONCE = 500
LANE_COLUMNS = ("gate", "queue", "after_priority", "after_tenant")
TAKE_COLUMNS = ("gate", "queue", "priority", "tenant", "take")


def park(turned_away: Iterable[ClaimedRow], capacity: Capacity, cache: LaneCache) -> Plan[None]:
    """Back to the queue as if they had not been claimed, but out of the due index."""
    parking = list(turned_away)
    if not parking:
        return
    lines = sorted((row.id, gate_name(row)) for row in parking)
    yield Statement("park_jobs", batch=Batch(("id", "gate"), lines))
    for row in parking:
        capacity.give_back(row.queue, row.tenant)
        cache.parked.add(gate_name(row))


def gate_name(row: ClaimedRow) -> str:
    """Where a job waits: at the gate of its key, or of its kind."""
    return str(row.limit_key or row.kind)


def find_parked(request: ClaimRequest, cache: LaneCache) -> Plan[bool]:
    """Which gates of our kinds have parked jobs. If a limit or a hold is gone, they return to the
    others; answers whether there may be more of these.
    """
    spans = cache.parked.spans(request.kinds)
    found = yield Statement("parked_gates", {"lanes": GATES_AT_ONCE}, Batch(SPAN_COLUMNS, spans))
    names = [name for (name,) in found]
    cache.parked.found(names, [kind for kind, _ in spans if kind in request.kinds])
    room = UNPARKED_AT_ONCE
    for name in names:
        if request.limits.concerns(name):
            cache.parked.add(name)
        elif room > 0:
            freed = yield Statement("unpark_jobs", {"gate": name, "limit": room})
            cache.revive(rows.freed_lanes(freed))
            cache.parked.emptied([name])
            room -= len(freed)
    return room <= 0


def serve_parked(
    names: Iterable[str],
    gates: LimitGates,
    request: ClaimRequest,
    capacity: Capacity,
    cache: LaneCache,
) -> Plan[list[ClaimedRow]]:
    """Claim parked jobs priority by priority, tenants by weight within one."""
    opened = [name for name in names if gates.open(name)]
    queues = sorted(capacity.slots)
    if not opened or not queues:
        return []
    lanes = yield from _lanes([(name, queue) for name in opened for queue in queues], cache)
    cache.parked.emptied(set(opened) - {gate for gate, _ in lanes})
    taken: list[ClaimedRow] = []
    for level in by_priority([lane._replace(queue=_join(gate, lane)) for gate, lane in lanes]):
        shares = _shares(level, gates, request, capacity, cache)
        if shares:
            values = rows.lease_values(request)
            found = yield Statement("claim_parked", values, Batch(TAKE_COLUMNS, shares))
            got = rows.claimed_rows(found)
            _give_back(shares, got, gates, capacity)
            taken += got
    return taken


def _lanes(asked: Sequence[tuple[str, str]], cache: LaneCache) -> Plan[list[tuple[str, Lane]]]:
    """The gates' lanes from the best; if there are more, also some from where we stopped before."""
    found: list[tuple[str, Lane]] = []
    places = [(*pair, -1, "") for pair in asked]
    for again in (False, True):
        values = {"lanes": LANES_AT_ONCE}
        shown = yield Statement("parked_lanes", values, Batch(LANE_COLUMNS, places))
        found += [(gate, Lane(queue, level, of)) for gate, queue, level, of in _named(shown)]
        many = _full(shown)
        if again or not many:
            cache.parked.stopped.update(many)
            break
        places = [(*pair, *cache.parked.resume(pair, end)) for pair, end in many.items()]
    return list(dict.fromkeys(found))


def _named(shown: Rows) -> Iterator[tuple[str, str, int, str]]:
    """Gate, queue, priority and tenant; what else a database tells is its own affair."""
    for gate, queue, priority, tenant, *_ in shown:
        yield gate, queue, priority, tenant


def _full(shown: Rows) -> dict[tuple[str, str], LanePosition]:
    """Where there may be more lanes than were shown: the last one shown."""
    lanes: dict[tuple[str, str], list[LanePosition]] = defaultdict(list)
    for gate, queue, priority, tenant in _named(shown):
        lanes[gate, queue].append((priority, tenant))
    return {pair: ends[-1] for pair, ends in lanes.items() if len(ends) >= LANES_AT_ONCE}


def _shares(
    level: list[Lane],
    gates: LimitGates,
    request: ClaimRequest,
    capacity: Capacity,
    cache: LaneCache,
) -> Rows:
    """How many jobs of each lane, within gates, slots and caps; they are reserved here."""
    shares: Rows = []
    for joined in dict.fromkeys(lane.queue for lane in level):
        gate, queue = _split(joined)
        room = min(gates.open(gate), capacity.slots.get(queue, 0))
        lanes = [one for one in level if one.queue == joined]
        for lane, wanted in cache.tally.divide(lanes, {joined: room}, request.weights):
            number = capacity.take(queue, lane.tenant, wanted)
            if number:
                cache.tally.charge(lane, number, request.weights)
                gates.let(gate, number)
                shares.append((gate, queue, lane.priority, lane.tenant, number))
    return shares


def _give_back(shares: Rows, got: list[ClaimedRow], gates: LimitGates, capacity: Capacity) -> None:
    """Return what a lane was asked for and did not have."""
    left = {(gate, queue, tenant): number for gate, queue, _, tenant, number in shares}
    for row in got:
        gate = str(row.limit_key)
        left[gate, row.queue, row.tenant] -= 1
        for one in gates.through(gate):
            one.last_at = max(one.last_at, row.started_at)
    for (gate, queue, tenant), number in left.items():
        gates.let(gate, -number)
        capacity.give_back(queue, tenant, number)


def _join(gate: str, lane: Lane) -> str:
    """Gate and queue as one name: the rule that divides slots knows only queues."""
    return f"{gate}\x1e{lane.queue}"


def _split(joined: str) -> tuple[str, str]:
    gate, _, queue = joined.rpartition("\x1e")
    return gate, queue
