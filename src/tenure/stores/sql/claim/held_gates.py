"""Holds at claim: jobs of a held key or kind are parked. After a hold with probes some may try."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from tenure.core.rules.limits import MOST_RUNNING, Limit, Limits, kind_of
from tenure.stores.contract import ClaimRequest
from tenure.stores.sql.claim.capacity import Capacity
from tenure.stores.sql.claim.known_rules import ALL
from tenure.stores.sql.claim.lane_cache import LaneCache
from tenure.stores.sql.claim.limit_gate import LimitGate, LimitGates
from tenure.stores.sql.claim.parked_gates import park
from tenure.stores.sql.rows import claimed_rows, columns
from tenure.stores.sql.statement import Batch, Plan, Rows, Statement
from tenure.stores.sql.write.gate_rules import rule_rows

Elapsed = Callable[[], float]
NO_LIMIT = Limit(running=MOST_RUNNING)
_pair = columns("kind", "limit_key")


def heed_rules(request: ClaimRequest, cache: LaneCache, elapsed: Elapsed) -> Plan[ClaimRequest]:
    """The request with the rules of gates, which are read anew if it is time."""
    if cache.rules.due(elapsed(), woken=bool(request.woken)):
        yield from read_rules(request, cache, elapsed)
    return with_rules(request, cache, elapsed())


def read_rules(request: ClaimRequest, cache: LaneCache, elapsed: Elapsed) -> Plan[None]:
    """Read what has changed."""
    rules = cache.rules
    seen = rules.ask(elapsed())
    found = yield Statement("changed_rules", {"seen": seen, "kinds": list(request.kinds)})
    if rules.unsure:
        found += yield Statement("named_rules", {"gates": sorted(rules.unsure)})
    rules.learn(rule_rows(found), elapsed(), everything=seen == ALL)


def with_rules(request: ClaimRequest, cache: LaneCache, now: float) -> ClaimRequest:
    """The request with the known rules. What is held no longer is looked at in this claim."""
    rules = cache.rules
    if reopened := rules.reopened(now):
        _look_at_parked(reopened, cache)
    if not rules.limits and not rules.holds:
        return request
    limits = replace(request.limits, one_key=rules.limits, holds=rules.holds)
    return replace(request, limits=limits)


def _look_at_parked(reopened: Collection[str], cache: LaneCache) -> None:
    """What waits where a hold has ended has its turn; a sweep lets go what nothing concerns."""
    for name in cache.parked.names:
        if name in reopened or kind_of(name) in reopened:
            cache.parked.add(name)
    if any(gate not in cache.rules.holds for gate in reopened):
        cache.timer.sweep_soon()


def may_go_loose(request: ClaimRequest, cache: LaneCache, now: float) -> bool:
    """Whether a claim needs no transaction: nothing is counted, and no held job is expected.

    If one comes up all the same, it is parked a moment after its claim.
    """
    limits = request.limits
    return not limits or (not limits.counting and cache.rules.quiet(now))


def park_held(
    taken: Rows, limits: Limits, capacity: Capacity, cache: LaneCache, now: float
) -> Plan[Rows]:
    """Those of `taken` that no hold turns away. Whoever may try comes from the parked ones."""
    held = {pair for pair in set(map(_pair, taken)) if limits.held(pair[1] or pair[0])}
    if not held:
        return taken
    turned_away = claimed_rows([row for row in taken if _pair(row) in held])
    yield from park(turned_away, capacity, cache)
    cache.rules.met(now)
    return [row for row in taken if _pair(row) not in held]


def open_to_probes(waited: Collection[str], gates: LimitGates, cache: LaneCache) -> Plan[None]:
    """Where a hold is over that lets jobs try: no more than that may pass."""
    trying = {one for name in waited for one in {name, kind_of(name)} if one in cache.rules.holds}
    for name in trying:
        gates.setdefault(name, LimitGate(name, NO_LIMIT, MOST_RUNNING, 0.0, 0))
    asked = sorted(name for name in trying if gates[name].open)
    probes: dict[str, int] = {}
    if asked:
        lines = [(name,) for name in asked]
        taken = yield Statement("take_probes", batch=Batch(("gate",), lines))
        probes = {name: number for _, name, number in taken}
    for name in trying:
        gates[name].probes = probes.get(name, 0)
    cache.rules.tried(set(asked) - probes.keys())  # another worker was first


def return_probes(gates: LimitGates, cache: LaneCache) -> Plan[None]:
    """What nobody took is there for the next job."""
    taken = [one for one in gates.values() if one.probes]
    if unused := sorted((one.name,) for one in taken if not one.used):
        yield Statement("return_probes", batch=Batch(("gate",), unused))
    cache.rules.tried(one.name for one in taken if one.used)
