"""What a worker knows of closed gates: when to look again, and nothing of those that are empty."""

from __future__ import annotations

from dataclasses import dataclass

from tenure.core.rules.limits import Limit, gate_of
from tenure.stores.sql.claim.parked_jobs import ParkedJobs


@dataclass
class Gate:
    limit: Limit
    left: float = 0.0
    open: int = 0


def test_a_gate_without_tokens_is_looked_at_when_there_are_some() -> None:
    parked, name = ParkedJobs(), gate_of("push", "acme")
    parked.add(name)
    parked.looked([name], {name: Gate(Limit(rate=2, burst=1))}, now=10.0)

    assert parked.look_in(10.0) == 0.5


def test_a_gate_where_nobody_waits_is_forgotten() -> None:
    parked = ParkedJobs()
    for number in range(100):
        name = gate_of("push", str(number))
        parked.add(name)
        parked.looked([name], {name: Gate(Limit(rate=2, burst=1))}, now=10.0)
        parked.emptied([name])

    assert not parked
    assert parked.look_in(10.0) is None
    assert parked._timed == set()
