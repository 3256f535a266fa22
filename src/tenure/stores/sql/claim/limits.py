"""Limits at claim: a job that is taken while its limit is reached is parked until there is room."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from tenure.core.rules.limits import Limits, kind_of
from tenure.stores.contract import ClaimRequest
from tenure.stores.sql.claim.capacity import Capacity
from tenure.stores.sql.claim.held_gates import open_to_probes, park_held, return_probes
from tenure.stores.sql.claim.lane_cache import LaneCache
from tenure.stores.sql.claim.limit_gate import NOTE_COLUMNS, LimitGates, lock_gates
from tenure.stores.sql.claim.parked_gates import gate_name, park, serve_parked
from tenure.stores.sql.claim.parked_jobs import GATES_AT_ONCE, KEYS_AT_ONCE, ParkedJobs
from tenure.stores.sql.rows import ClaimedRow, claimed_rows, columns
from tenure.stores.sql.statement import Batch, Plan, Row, Rows, Statement


@dataclass(frozen=True, slots=True)
class Passed:
    """The jobs that may run, and in how many seconds it is worth looking again."""

    rows: Sequence[Row]
    look_in: float | None = None


def pass_gates(
    request: ClaimRequest,
    taken: Rows,
    capacity: Capacity,
    cache: LaneCache,
    now: float,
) -> Plan[Passed]:
    """Those of `taken`, which is best first, that find room; then those that were parked."""
    limits = request.limits
    if not limits.holds:
        return (yield from _pass_limits(request, taken, capacity, cache, now))
    free = yield from park_held(taken, limits, capacity, cache, now)
    passed = yield from _pass_limits(request, free, capacity, cache, now)
    if free is not taken and capacity:
        return replace(passed, look_in=0.0)
    return replace(passed, look_in=_sooner(passed.look_in, cache, now))


def _sooner(look_in: float | None, cache: LaneCache, now: float) -> float | None:
    """Or earlier, if jobs are parked at a hold: it may be released, or end."""
    held = cache.rules.look_in(now) if cache.parked else None
    return held if look_in is None else look_in if held is None else min(held, look_in)


def _pass_limits(
    request: ClaimRequest,
    taken: Rows,
    capacity: Capacity,
    cache: LaneCache,
    now: float,
) -> Plan[Passed]:
    limits, parked = request.limits, cache.parked
    names = {pair: limits.gates(*pair) for pair in set(map(_pair, taken))}
    most = GATES_AT_ONCE if request.thorough else KEYS_AT_ONCE
    waited = parked.worth_a_look(now, limits, most)
    asked = waited.union(*names.values())
    if not asked:
        return Passed(taken, parked.look_in(now))
    kinds = {kind_of(name) for name in asked}
    waits = any(kind_of(name) in kinds for name in parked.names)
    if not waits and (yield from _surely_within(taken, asked, limits)):
        return Passed(taken, parked.look_in(now))
    gates = yield from lock_gates(asked | kinds, request)
    yield from open_to_probes(waited, gates, cache)
    claimed = claimed_rows(taken)
    turned_away = _turned_away(claimed, names, gates, parked)
    yield from park(turned_away.values(), capacity, cache)
    waiting = sorted(waited.union(map(gate_name, turned_away.values())))
    served = yield from serve_parked(waiting, gates, request, capacity, cache)
    yield from return_probes(gates, cache)
    if notes := [one.row() for name, one in gates.items() if limits.at(name) is not None]:
        yield Statement("note_gates", batch=Batch(NOTE_COLUMNS, notes))
    parked.looked(waiting, gates, now)
    passed = [row for row in claimed if row.id not in turned_away] + served
    if parked:
        limited = [row for row in passed if names.get(_pair(row), True)]
        parked.began({str(row.id): gate_name(row) for row in limited})
    return Passed(passed, 0.0 if turned_away and capacity else parked.look_in(now))


def _surely_within(taken: Rows, asked: Collection[str], limits: Limits) -> Plan[bool]:
    """The usual case: one gate, and all that passed since it was counted is within its limit."""
    if len(asked) != 1:
        return False
    [name] = asked
    limit = limits.at(name)
    if limit is None or limit.running is None or limit.rate is not None or name not in limits.kinds:
        return False
    jobs = sum(kind == name for kind in map(_kind, taken))
    values = {"gate": name, "jobs": jobs, "most": limit.running}
    return bool((yield Statement("charge_gate", values)))


def _turned_away(
    taken: list[ClaimedRow], names: dict[Row, list[str]], gates: LimitGates, parked: ParkedJobs
) -> dict[int, ClaimedRow]:
    """The worst of those for which there is no room; all of them if others wait or tokens count.

    A start must not be earlier than its token: a job that needs one is claimed anew, under the
    lock.
    """
    found: dict[int, ClaimedRow] = {}
    if not any(one.crowded for one in gates.values()) and not parked:
        return found
    for row in reversed(_in_turn(taken)):
        its = [gates[name] for name in names[_pair(row)]]
        if its and (any(one.crowded for one in its) or parked.has(gate_name(row))):
            found[row.id] = row
            for one in its:
                one.room += 1
    return found


def _in_turn(taken: list[ClaimedRow]) -> list[ClaimedRow]:
    """Within a priority one job of each tenant, then the next of each."""
    turns: Counter[str] = Counter()
    placed: list[tuple[int, int, int, ClaimedRow]] = []
    for row in taken:
        turns[row.tenant] += 1
        placed.append((row.priority, turns[row.tenant], len(placed), row))
    return [row for *_, row in sorted(placed)]


_pair, _kind = columns("kind", "limit_key"), columns("kind")
