"""What a worker knows of closed gates: when to look again, and nothing of those that are empty."""

from __future__ import annotations

from dataclasses import dataclass

from tenure.core.rules.limits import Limit, gate_of
from tenure.stores.sql.claim.parked_jobs import Parking


@dataclass
class Gate:
    limit: Limit
    left: float = 0.0
    open: int = 0


def test_a_gate_without_tokens_is_looked_at_when_there_are_some() -> None:
    parking, name = Parking(), gate_of("push", "acme")
    parking.add(name)
    parking.looked([name], {name: Gate(Limit(rate=2, burst=1))}, now=10.0)

    assert parking.look_in(10.0) == 0.5


def test_a_gate_where_nobody_waits_is_forgotten() -> None:
    parking = Parking()
    for number in range(100):
        name = gate_of("push", str(number))
        parking.add(name)
        parking.looked([name], {name: Gate(Limit(rate=2, burst=1))}, now=10.0)
        parking.emptied([name])

    assert not parking
    assert parking.look_in(10.0) is None
    assert parking._timed == set()
