"""Taking jobs from lanes: level by level, each lane its share, until the slots are full."""

from __future__ import annotations

from collections import Counter
from itertools import chain, groupby

from tenure.core.rules.shares import MANY, Lane, Take, by_priority
from tenure.stores.contract import ClaimRequest
from tenure.stores.sql import rows
from tenure.stores.sql.claim.capacity import Capacity
from tenure.stores.sql.claim.lane_cache import Floor, LaneCache
from tenure.stores.sql.claim.oldest_first import oldest_first
from tenure.stores.sql.statement import Batch, Plan, Rows, Statement

# Among very many lanes a claim is content with half of the slots: see `take`.
NEARLY = 0.5
# Lanes of one queue are offered half as much again, because some have less than their share.
SPARE = 1.5
TAKE_COLUMNS = ("queue", "priority", "tenant", "take", "floor_run_at", "floor_id")
LANE = rows.columns("queue", "priority", "tenant")
POSITION = rows.columns("run_at", "id")


def take(
    request: ClaimRequest, lanes: list[Lane], capacity: Capacity, cache: LaneCache
) -> Plan[Rows]:
    """Best priority first, until the slots are full. Answers the best jobs first.

    Among very many lanes nearly full is enough: each further round is a statement for what a few
    of them did not have.
    """
    taken: Rows = []
    if request.shard is not None:
        lanes = [lane for lane in lanes if request.may_take(lane.tenant)]
    enough = capacity.total * NEARLY if len(lanes) > MANY else capacity.total
    for level in by_priority(lanes):
        rounds: list[Rows] = []
        while level and len(taken) + sum(map(len, rounds)) < enough:
            takes = yield from _shares(request, level, capacity, cache)
            if not takes:
                break
            room = capacity.of(one.lane.queue for one in takes)
            got = yield from _take_shares(request, takes, room, cache)
            asked = _asked(takes, got) if len(got) >= room else takes
            level = _which_may_have_more(request, level, asked, got, capacity, cache)
            rounds.append(got)
        taken += rounds[0] if len(rounds) == 1 else sorted(chain(*rounds), key=POSITION)
    return taken


def _shares(
    request: ClaimRequest, level: list[Lane], capacity: Capacity, cache: LaneCache
) -> Plan[list[Take]]:
    """How many jobs of each lane. A tenant at its cap is not scanned at all.

    The lanes of one queue may be offered more than there is room for: the statement stops when the
    queue is full.
    """
    spare = SPARE if len({lane.queue for lane in level}) == 1 else 1
    if capacity.tenants:
        level = [lane for lane in level if capacity.has(lane.tenant)]
    unfair = [one for one in level if one.queue in request.unfair and one.queue in capacity.slots]
    if not unfair:
        shares = cache.tally.divide(level, capacity.slots, request.weights, spare)
        return capacity.capped(shares)
    fair = [lane for lane in level if lane.queue not in request.unfair]
    takes = cache.tally.divide(fair, capacity.slots, request.weights)
    takes += yield from oldest_first(request, unfair, capacity, cache)
    return capacity.capped(takes)


def _take_shares(
    request: ClaimRequest, takes: list[Take], room: int, cache: LaneCache
) -> Plan[Rows]:
    """One share of each lane, from behind its floor, in the order of the index."""
    values = {
        "kinds": list(request.kinds),
        "room": room,
        "limited": list(request.limits.kinds),
        **rows.lease_values(request),
    }
    floor = cache.floor
    shares = Batch(
        TAKE_COLUMNS,
        [(lane.queue, lane.priority, lane.tenant, number, *floor(lane)) for lane, number in takes],
        room,
    )
    if request.limits.kinds:
        got = yield Statement("claim_counted", values, shares)
    else:
        got = yield Statement("claim_take", values, shares)
    got.sort(key=POSITION)  # RETURNING promises no order
    return got


def _asked(takes: list[Take], got: Rows) -> list[Take]:
    """The room was full in the middle of the lanes: those behind were not asked at all, and the
    last one only for what it gave.
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
    capacity: Capacity,
    cache: LaneCache,
) -> list[Lane]:
    """The lanes that gave all they were asked for: the others' leftovers go to them."""
    found = _by_lane(takes, got)
    full = set(level).difference(one.lane for one in takes)
    for lane, number in takes:
        mine = found.get(lane, [])
        capacity.give_back(lane.queue, lane.tenant, -len(mine))
        cache.tally.charge(lane, len(mine), request.weights)
        cache.took(lane, _end(mine), full=len(mine) == number)
        if len(mine) == number:
            full.add(lane)
    return [lane for lane in level if lane in full]


def _by_lane(takes: list[Take], got: Rows) -> dict[Lane, Rows]:
    """What each lane gave, in order."""
    if len(takes) == 1:  # the usual case
        return {takes[0].lane: got}
    return {Lane(*lane): list(part) for lane, part in groupby(sorted(got, key=LANE), key=LANE)}


def _end(mine: Rows) -> Floor | None:
    """The position of the last one; they are in order."""
    return POSITION(mine[-1]) if mine else None
