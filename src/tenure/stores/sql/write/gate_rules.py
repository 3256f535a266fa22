"""Writes the rules of gates: limits of single keys, and holds.

A rule is one row. Its version is given out under a lock that is kept until the commit, so that a
claimer that has seen a version has seen all before it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from tenure.core.rules.holds import KeyHold
from tenure.core.rules.limits import SEPARATOR, Limit, kind_of
from tenure.core.timing.clock import from_micros, seconds_to_micros, to_micros
from tenure.stores.sql.statement import Batch, Plan, Row, Statement

RULES_GATE = f"{SEPARATOR}rules"
MICROS = 1_000_000


class RuleRow(NamedTuple):
    """A row of the fragment `rule`, and the store's time."""

    name: str
    version: int
    running: int | None
    rate: float | None
    per: float | None
    burst: int | None
    held_since: int | None
    held_until: int | None
    held_for: int | None
    probes: int
    reason: str | None
    now: int

    @property
    def limit(self) -> Limit | None:
        """The limit, if it has one."""
        if self.running is None and self.rate is None:
            return None
        per = 1.0 if self.per is None else self.per
        return Limit(running=self.running, rate=self.rate, per=per, burst=self.burst)

    @property
    def key_hold(self) -> KeyHold | None:
        """The hold, if it has one that is not over."""
        if self.held_until is None or self.held_since is None or self.held_for is None:
            return None
        kind, separator, key = self.name.partition(SEPARATOR)
        hold = KeyHold(
            kind=kind,
            key=key if separator else None,
            since=from_micros(self.held_since),
            until=from_micros(self.held_until),
            seconds=self.held_for / MICROS,
            reason=self.reason or "",
            probes=self.probes,
        )
        return hold if hold.lasts(from_micros(self.now)) else None


@dataclass(frozen=True, slots=True)
class Rule:
    """What a row says."""

    limit: Limit | None = None
    hold: KeyHold | None = None


def change_rule(name: str, change: Callable[[Rule], Rule]) -> Plan[Rule]:
    """Write a rule; answers what it was before."""
    gates = {"gates": [RULES_GATE]}
    if not (yield Statement("lock_gates", gates)):
        yield Statement("add_gates", batch=Batch(("gate", "tokens"), [(RULES_GATE, 0.0)]))
        yield Statement("lock_gates", gates)
    before = Rule()
    for row in (yield Statement("lock_rule", {"gate": name})):
        found = RuleRow(*row)
        before = Rule(found.limit, found.key_hold)
    after = change(before)
    if after != before:
        yield Statement("write_rule", _values(name, after))
    return before


def limited(limit: Limit | None, rule: Rule) -> Rule:
    """The rule with this limit."""
    return replace(rule, limit=limit)


def held(hold: KeyHold | None, rule: Rule) -> Rule:
    """The rule with this hold."""
    return replace(rule, hold=hold)


def rule_rows(found: list[Row]) -> list[RuleRow]:
    """The rows with names."""
    return [RuleRow(*row) for row in found]


def _values(name: str, rule: Rule) -> dict[str, object]:
    limit, hold = rule.limit, rule.hold
    return {
        "gate": name,
        "kind": kind_of(name),
        "running": limit and limit.running,
        "rate": limit and limit.rate,
        "per": limit and limit.per,
        "burst": limit and limit.burst,
        "held_since": hold and to_micros(hold.since),
        "held_until": hold and to_micros(hold.until),
        "held_for": hold and max(1, seconds_to_micros(hold.seconds)),
        "probes": hold.probes if hold else 0,
        "reason": hold and hold.reason,
    }
