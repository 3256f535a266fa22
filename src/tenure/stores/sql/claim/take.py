"""Taking jobs from lanes: level by level, each lane its share, until the slots are full."""

from __future__ import annotations

from collections import Counter
from itertools import chain, groupby
from operator import itemgetter

from tenure.core.rules.shares import MANY, Age, Lane, Take, by_priority, oldest
from tenure.stores.contract import ClaimRequest
from tenure.stores.sql import rows
from tenure.stores.sql.claim.capacity import Free
from tenure.stores.sql.claim.lane_cache import Floor, Memory
from tenure.stores.sql.statement import Batch, Plan, Rows, Statement

NEARLY = 0.5
SPARE = 1.5
TAKE_COLUMNS = ("queue", "priority", "tenant", "take", "floor_run_at", "floor_id")
AGE_COLUMNS = ("queue", "priority", "tenant", "floor_run_at", "floor_id")
LANE = itemgetter(3, 5, 6)
POSITION = itemgetter(12, 0)


def take(request: ClaimRequest, lanes: list[Lane], free: Free, memory: Memory) -> Plan[Rows]:
    """Level by level, best priority first, until the slots are full; among very many lanes, nearly
    full: each further round is a statement for what a few of them did not have. Best first.
    """
    taken: Rows = []
    if request.shard is not None:
        lanes = [lane for lane in lanes if request.may_take(lane.tenant)]
    enough = free.total * NEARLY if len(lanes) > MANY else free.total
    for level in by_priority(lanes):
        rounds: list[Rows] = []
        while level and len(taken) + sum(map(len, rounds)) < enough:
            takes = yield from _shares(request, level, free, memory)
            if not takes:
                break
            room = free.of(one.lane.queue for one in takes)
            got = yield from _take_shares(request, takes, room, memory)
            asked = _asked(takes, got) if len(got) >= room else takes
            level = _which_may_have_more(request, level, asked, got, free, memory)
            rounds.append(got)
        taken += rounds[0] if len(rounds) == 1 else sorted(chain(*rounds), key=POSITION)
    return taken


def taken_values(request: ClaimRequest) -> dict[str, object]:
    """What a row that is taken gets."""
    return {"limited": list(request.limits.kinds), **rows.lease_values(request)}


def _shares(
    request: ClaimRequest, level: list[Lane], free: Free, memory: Memory
) -> Plan[list[Take]]:
    """How many of each lane; a tenant at its cap is not scanned at all.

    The lanes of one queue may be offered more than there is room for: it is full when it is full.
    """
    spare = SPARE if len({lane.queue for lane in level}) == 1 else 1
    if free.tenants:
        level = [lane for lane in level if free.has(lane.tenant)]
    strict = [one for one in level if one.queue in request.unfair and one.queue in free.slots]
    if not strict:
        return _capped(memory.tally.divide(level, free.slots, request.weights, spare), free)
    fair = [lane for lane in level if lane.queue not in request.unfair]
    takes = memory.tally.divide(fair, free.slots, request.weights)
    return _capped(takes + (yield from _by_age(request, strict, free, memory)), free)


def _capped(shares: list[Take], free: Free) -> list[Take]:
    """No more of a tenant than it may have."""
    if not free.tenants:
        return shares
    left = dict(free.tenants)
    takes: list[Take] = []
    for share in shares:
        number = min(share.number, left.get(share.lane.tenant, share.number))
        if number > 0:
            takes.append(Take(share.lane, number))
            left[share.lane.tenant] = left.get(share.lane.tenant, number) - number
    return takes


def _by_age(
    request: ClaimRequest, lanes: list[Lane], free: Free, memory: Memory
) -> Plan[list[Take]]:
    """The oldest jobs of all these lanes. Where there are more lanes than slots, only those are
    read further whose first job is among the oldest.
    """
    if len(lanes) == 1:
        return [Take(lanes[0], free.slots[lanes[0].queue])]
    room = max(free.slots[lane.queue] for lane in lanes)
    if len(lanes) > room:
        firsts = yield from _ages(request, lanes, 1, memory)
        lanes = [one.lane for one in oldest(firsts, free.slots)]
    return oldest((yield from _ages(request, lanes, room, memory)), free.slots)


def _ages(request: ClaimRequest, lanes: list[Lane], first: int, memory: Memory) -> Plan[list[Age]]:
    if not lanes:
        return []
    values = {"kinds": list(request.kinds), "first": first}
    places = [(*lane, *memory.floor(lane)) for lane in lanes]
    found = yield Statement("claim_ages", values, Batch(AGE_COLUMNS, places))
    return [Age(row[3], row[4], Lane(*row[:3])) for row in found]


def _take_shares(request: ClaimRequest, takes: list[Take], room: int, memory: Memory) -> Plan[Rows]:
    """One share of each lane, from behind its floor, in the order of the index."""
    values = {"kinds": list(request.kinds), "room": room, **taken_values(request)}
    floor = memory.floor
    shares = Batch(
        TAKE_COLUMNS,
        [
            (one.lane.queue, one.lane.priority, one.lane.tenant, one.number, *floor(one.lane))
            for one in takes
        ],
        room,
    )
    if request.limits.kinds:
        got = yield Statement("claim_counted", values, shares)
    else:
        got = yield Statement("claim_take", values, shares)
    got.sort(key=POSITION)
    return got


def _asked(takes: list[Take], got: Rows) -> list[Take]:
    """The room was full in the midst of the lanes: those behind were not asked, and of the last
    one only for what it gave.
    """
    if len(takes) == 1:  # the usual case
        return [Take(takes[0].lane, len(got))]
    counts = Counter(map(LANE, got))
    last = max(place for place, one in enumerate(takes) if counts[one.lane])
    return [*takes[:last], Take(takes[last].lane, counts[takes[last].lane])]


def _which_may_have_more(
    request: ClaimRequest,
    level: list[Lane],
    takes: list[Take],
    got: Rows,
    free: Free,
    memory: Memory,
) -> list[Lane]:
    """What one lane leaves over goes to the others that gave all they were asked for."""
    found = _by_lane(takes, got)
    full = set(level).difference(one.lane for one in takes)
    for one in takes:
        mine = found.get(one.lane, [])
        free.give_back(one.lane.queue, one.lane.tenant, -len(mine))
        memory.tally.charge(one.lane, len(mine), request.weights)
        memory.took(one.lane, _position(mine), full=len(mine) == one.number)
        if len(mine) == one.number:
            full.add(one.lane)
    return [lane for lane in level if lane in full]


def _by_lane(takes: list[Take], got: Rows) -> dict[Lane, Rows]:
    """What each lane gave, in order."""
    if len(takes) == 1:  # the usual case
        return {takes[0].lane: got}
    return {Lane(*lane): list(part) for lane, part in groupby(sorted(got, key=LANE), key=LANE)}


def _position(mine: Rows) -> Floor | None:
    """Of the last of them; they are in order."""
    return POSITION(mine[-1]) if mine else None
