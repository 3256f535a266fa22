"""Limits at claim: a job that comes up while its gate is closed is parked until there is room.

What runs is counted by an index, not by a counter that somebody has to bring back: a crashed
holder's place is free when its lease is over. Gates are locked in the order of their names.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter

from tenure.core.rules.limits import MOST_RUNNING, Limit, Limits, behind, kind_of
from tenure.core.rules.shares import Lane, by_priority
from tenure.stores.contract import ClaimRequest
from tenure.stores.sql.claim.capacity import Free
from tenure.stores.sql.claim.lane_cache import Memory
from tenure.stores.sql.claim.parked_jobs import GATES_AT_ONCE, Parking
from tenure.stores.sql.rows import lease_values
from tenure.stores.sql.statement import Batch, Plan, Row, Rows, Statement

LANES_AT_ONCE = 128
UNPARKED_AT_ONCE = 500
MICROS = 1_000_000
NOT_KNOWN = 2**53
GATE_COLUMNS = ("gate", "behind")
LANE_COLUMNS = ("gate", "queue", "after_priority", "after_tenant")
TAKE_COLUMNS = ("gate", "queue", "priority", "tenant", "take")
NOTE_COLUMNS = ("gate", "running", "tokens", "refilled_at", "full_at")
ID, KIND, QUEUE, PRIORITY, TENANT, STARTED, GATE = 0, 2, 3, 5, 6, 9, 13


@dataclass(slots=True)
class Gate:
    """A locked gate: how many more may pass. Below nothing: so many too many are inside.

    `tokens` are those there were when it was locked; they go on coming until the last one starts.
    """

    name: str
    limit: Limit
    room: int
    tokens: float
    at: int
    used: int = 0
    last_at: int = 0

    @property
    def open(self) -> int:
        """How many may pass now."""
        tokens = int(self.tokens) - self.used if self.limit.rate is not None else self.room
        return max(0, min(self.room, tokens))

    @property
    def crowded(self) -> bool:
        """Whether somebody who has just come has to leave again."""
        return self.room < 0 or self.limit.rate is not None

    def let(self, jobs: int) -> None:
        """So many pass, or do not after all."""
        self.room -= jobs
        self.used += jobs

    @property
    def left(self) -> float:
        """The tokens that are left after the last start."""
        seconds = (self.last_at - self.at) / MICROS
        return self.limit.refilled(self.tokens, seconds) - self.used

    def row(self) -> Row:
        """What runs and its tokens, as they are kept."""
        running = NOT_KNOWN if self.limit.running is None else self.limit.running - self.room
        if self.limit.rate is None:
            return self.name, running, self.tokens, self.at, self.at
        at = max(self.at, self.last_at)
        missing = (self.limit.bucket - self.left) / self.limit.each_second
        return self.name, running, self.left, at, at + math.ceil(missing * MICROS)


Gates = dict[str, Gate]


@dataclass(frozen=True, slots=True)
class Passed:
    """Who may run, and in how many seconds it is worth looking again."""

    rows: Rows
    look_in: float | None = None


def pass_gates(
    request: ClaimRequest, taken: Rows, free: Free, memory: Memory, now: float
) -> Plan[Passed]:
    """Of those taken, who finds room; then those that waited. `taken` is best first."""
    limits, parking = request.limits, memory.parking
    names = {pair: limits.gates(*pair) for pair in set(map(_pair, taken))}
    waited = parking.worth_a_look(now, limits)
    asked = waited.union(*names.values())
    if not asked:
        return Passed(taken, parking.look_in(now))
    if not parking and (yield from _surely_within(taken, asked, limits)):
        return Passed(taken)
    gates = yield from _lock(asked | {kind_of(name) for name in asked}, request)
    turned_away = _turned_away(taken, names, gates, parking)
    yield from _park(turned_away, free, parking)
    waiting = sorted(waited.union(map(_name, turned_away.values())))
    served = yield from _serve(waiting, gates, request, free, memory)
    yield Statement("note_gates", batch=Batch(NOTE_COLUMNS, [one.row() for one in gates.values()]))
    parking.looked(waiting, gates, now)
    passed = [row for row in taken if row[ID] not in turned_away] + served
    if parking:
        parking.began({str(row[ID]): _name(row) for row in passed if names.get(_pair(row), True)})
    return Passed(passed, 0.0 if turned_away and free else parking.look_in(now))


def _surely_within(taken: Rows, asked: Collection[str], limits: Limits) -> Plan[bool]:
    """The usual case: one gate, and all that came since it was counted is within its limit."""
    if len(asked) != 1:
        return False
    [name] = asked
    limit = limits.at(name)
    if limit is None or limit.running is None or limit.rate is not None or name not in limits.kinds:
        return False
    jobs = sum(row[KIND] == name for row in taken)
    values = {"gate": name, "jobs": jobs, "most": limit.running}
    return bool((yield Statement("charge_gate", values)))


def _lock(names: Collection[str], request: ClaimRequest) -> Plan[Gates]:
    limits = {name: found for name in names if (found := request.limits.at(name)) is not None}
    kept = yield Statement("lock_gates", {"gates": sorted(limits)})
    if missing := sorted(limits.keys() - {row[0] for row in kept}):
        rows = [(name, float(limits[name].bucket)) for name in missing]
        yield Statement("add_gates", batch=Batch(("gate", "tokens"), rows))
        kept = yield Statement("lock_gates", {"gates": sorted(limits)})
    spans = [(name, behind(name)) for name in sorted(limits)]
    counted = yield Statement("count_gates", batch=Batch(GATE_COLUMNS, spans))
    buckets = {row[0]: (row[1], row[2]) for row in kept}
    return {row[0]: _gate(row, limits[row[0]], *buckets[row[0]]) for row in counted}


def _gate(counted: Row, limit: Limit, tokens: float, refilled_at: int) -> Gate:
    """The count has in it whom this very claim has taken: a gate may be too full."""
    name, running, now = counted
    room = MOST_RUNNING if limit.running is None else limit.running - running
    return Gate(name, limit, room, limit.refilled(tokens, (now - refilled_at) / MICROS), now)


def _turned_away(
    taken: Rows, names: dict[Row, list[str]], gates: Gates, parking: Parking
) -> dict[int, Row]:
    """The worst of those for whom there is no room; and all where others wait, or tokens count.

    A start must not be earlier than its token: who needs one is claimed anew, under the lock.
    """
    found: dict[int, Row] = {}
    if not any(one.crowded for one in gates.values()) and not parking:
        return found
    for row in reversed(_in_turn(taken)):
        its = [gates[name] for name in names[_pair(row)]]
        if its and (any(one.crowded for one in its) or parking.has(_name(row))):
            found[row[ID]] = row
            for one in its:
                one.room += 1
    return found


def _in_turn(taken: Rows) -> Rows:
    """Within a priority one of each tenant, then the next of each."""
    turns: Counter[str] = Counter()
    placed: list[tuple[int, int, int, Row]] = []
    for row in taken:
        turns[row[TENANT]] += 1
        placed.append((row[PRIORITY], turns[row[TENANT]], len(placed), row))
    return [place[-1] for place in sorted(placed)]


_pair = itemgetter(KIND, GATE)


def _name(row: Row) -> str:
    return str(row[GATE] or row[KIND])


def _park(turned_away: dict[int, Row], free: Free, parking: Parking) -> Plan[None]:
    if not turned_away:
        return
    lines = [(row[ID], _name(row)) for row in turned_away.values()]
    yield Statement("park_jobs", batch=Batch(("id", "gate"), sorted(lines)))
    for row in turned_away.values():
        free.give_back(row[QUEUE], row[TENANT])
        parking.add(_name(row))


def _serve(
    names: Iterable[str], gates: Gates, request: ClaimRequest, free: Free, memory: Memory
) -> Plan[Rows]:
    """Those that waited, priority by priority, tenants by weight within one."""
    opened = [name for name in names if _open(name, gates)]
    queues = sorted(free.slots)
    if not opened or not queues:
        return []
    lanes = yield from _lanes([(name, queue) for name in opened for queue in queues], memory)
    memory.parking.emptied(set(opened) - {gate for gate, _ in lanes})
    taken: Rows = []
    for level in by_priority([Lane(_join(gate, lane), *lane[1:]) for gate, lane in lanes]):
        shares = _shares(level, gates, request, free, memory)
        if shares:
            values = lease_values(request)
            got = yield Statement("claim_parked", values, Batch(TAKE_COLUMNS, shares))
            _give_back(shares, got, gates, free)
            taken += got
    return taken


def _lanes(asked: Sequence[tuple[str, str]], memory: Memory) -> Plan[list[tuple[str, Lane]]]:
    """Who waits, from the best; where there are more, also some from where we stopped before."""
    found: list[tuple[str, Lane]] = []
    places = [(*pair, -1, "") for pair in asked]
    for again in (False, True):
        values = {"lanes": LANES_AT_ONCE}
        rows = yield Statement("parked_lanes", values, Batch(LANE_COLUMNS, places))
        found += [(row[0], Lane(*row[1:])) for row in rows]
        many = _full(rows)
        if again or not many:
            memory.parking.stopped.update(many)
            break
        places = [(*pair, *memory.parking.resume(pair, place)) for pair, place in many.items()]
    return list(dict.fromkeys(found))


def _full(rows: Rows) -> dict[tuple[str, str], tuple[int, str]]:
    """Where there may be more lanes than were shown: the last one shown."""
    shown: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        shown[row[0], row[1]].append(row)
    return {
        pair: (lanes[-1][2], lanes[-1][3])
        for pair, lanes in shown.items()
        if len(lanes) >= LANES_AT_ONCE
    }


def _shares(
    level: list[Lane], gates: Gates, request: ClaimRequest, free: Free, memory: Memory
) -> Rows:
    """How many of each lane, within the gates, the slots and the caps; they are taken up here."""
    shares: Rows = []
    for joined in dict.fromkeys(lane.queue for lane in level):
        gate, queue = _split(joined)
        room = min(_open(gate, gates), free.slots.get(queue, 0))
        lanes = [one for one in level if one.queue == joined]
        for take in memory.tally.divide(lanes, {joined: room}, request.weights):
            number = free.take(queue, take.lane.tenant, take.number)
            if number:
                memory.tally.charge(take.lane, number, request.weights)
                _let(gate, gates, number)
                shares.append((gate, queue, take.lane.priority, take.lane.tenant, number))
    return shares


def _give_back(shares: Rows, got: Rows, gates: Gates, free: Free) -> None:
    """What a lane was asked for and did not have."""
    left = {(gate, queue, tenant): number for gate, queue, _, tenant, number in shares}
    for row in got:
        left[row[GATE], row[QUEUE], row[TENANT]] -= 1
        for one in _through(row[GATE], gates):
            one.last_at = max(one.last_at, row[STARTED])
    for (gate, queue, tenant), number in left.items():
        _let(gate, gates, -number)
        free.give_back(queue, tenant, number)


def _through(name: str, gates: Gates) -> list[Gate]:
    """The gates behind a name: its key's and its kind's."""
    return [gates[one] for one in {name, kind_of(name)} if one in gates]


def _open(name: str, gates: Gates) -> int:
    return min((gate.open for gate in _through(name, gates)), default=0)


def _let(name: str, gates: Gates, jobs: int) -> None:
    for gate in _through(name, gates):
        gate.let(jobs)


def _join(gate: str, lane: Lane) -> str:
    return f"{gate}\x1e{lane.queue}"


def _split(joined: str) -> tuple[str, str]:
    gate, _, queue = joined.rpartition("\x1e")
    return gate, queue


def find_parked(request: ClaimRequest, memory: Memory) -> Plan[None]:
    """Who waits at the gates of our kinds; where a limit is gone, they go back to the others."""
    batch = Batch(GATE_COLUMNS, memory.parking.spans(request.kinds))
    found = [row[0] for row in (yield Statement("parked_gates", {"lanes": GATES_AT_ONCE}, batch))]
    memory.parking.found(found)
    for name in found:
        if request.limits.at(name) is None and request.limits.at(kind_of(name)) is None:
            freed = yield Statement("unpark_jobs", {"gate": name, "limit": UNPARKED_AT_ONCE})
            memory.revive([Lane(*row[1:4]) for row in freed])
        else:
            memory.parking.add(name)
