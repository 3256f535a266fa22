"""Taking jobs from lanes: level by level, each lane its share, until the slots are full."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from operator import itemgetter

from tenure.core.shares import MANY, Lane, Take, by_priority
from tenure.stores.contract import ClaimRequest
from tenure.stores.sql import rows
from tenure.stores.sql.free import Free
from tenure.stores.sql.memory import Floor, Memory
from tenure.stores.sql.statement import Batch, Plan, Rows, Statement

NEARLY = 0.5
SPARE = 1.5
TAKE_COLUMNS = ("queue", "priority", "tenant", "take", "floor_run_at", "floor_id")
LANE = itemgetter(4, 6, 7)
POSITION = itemgetter(17, 0)


def take(request: ClaimRequest, lanes: list[Lane], free: Free, memory: Memory) -> Plan[Rows]:
    """Level by level, best priority first, until the slots are full; among very many lanes, nearly
    full: each further round is a statement for what a few of them did not have.
    """
    taken: Rows = []
    if request.shard is not None:
        lanes = [lane for lane in lanes if request.may_take(lane.tenant)]
    enough = free.total * NEARLY if len(lanes) > MANY else free.total
    for level in by_priority(lanes):
        while level and len(taken) < enough and (takes := _shares(request, level, free, memory)):
            room = free.of(one.lane.queue for one in takes)
            got = yield from _take_shares(request, takes, room, memory)
            asked = _asked(takes, got) if len(got) >= room else takes
            level = _which_may_have_more(request, level, asked, got, free, memory)
            taken += got
    return taken


def taken_values(request: ClaimRequest) -> dict[str, object]:
    """What a row that is taken gets."""
    return {"limited": list(request.limits.kinds), **rows.lease_values(request)}


def _shares(request: ClaimRequest, level: list[Lane], free: Free, memory: Memory) -> list[Take]:
    """How many of each lane; a tenant at its cap is not scanned at all.

    The lanes of one queue may be offered more than there is room for: it is full when it is full.
    """
    spare = SPARE if len({lane.queue for lane in level}) == 1 else 1
    if not free.tenants:
        return memory.tally.divide(level, free.slots, request.weights, spare)
    level = [lane for lane in level if free.has(lane.tenant)]
    left = dict(free.tenants)
    takes: list[Take] = []
    for share in memory.tally.divide(level, free.slots, request.weights, spare):
        number = min(share.number, left.get(share.lane.tenant, share.number))
        if number > 0:
            takes.append(Take(share.lane, number))
            left[share.lane.tenant] = left.get(share.lane.tenant, number) - number
    return takes


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
    found = {Lane(*lane): list(part) for lane, part in groupby(sorted(got, key=LANE), key=LANE)}
    full = set(level).difference(one.lane for one in takes)
    for one in takes:
        mine = found.get(one.lane, [])
        free.give_back(one.lane.queue, one.lane.tenant, -len(mine))
        memory.tally.charge(one.lane, len(mine), request.weights)
        memory.took(one.lane, _position(mine), full=len(mine) == one.number)
        if len(mine) == one.number:
            full.add(one.lane)
    return [lane for lane in level if lane in full]


def _position(mine: Rows) -> Floor | None:
    """Of the last of them; they are in order."""
    return (mine[-1][17], mine[-1][0]) if mine else None
