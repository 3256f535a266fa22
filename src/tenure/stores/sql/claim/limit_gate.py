"""A limit while it is locked: how many more jobs may pass.

What runs is counted by an index, not by a counter that somebody has to correct: a crashed holder's
place is free when its lease is over. Gates are locked in the order of their names.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from tenure.core.rules.limits import MOST_RUNNING, SEPARATOR, Limit, behind, kind_of
from tenure.stores.contract import ClaimRequest
from tenure.stores.sql.statement import Batch, Plan, Row, Rows, Statement

MICROS = 1_000_000
# In place of a count where nothing is counted; JSON keeps whole numbers up to here exact.
NOT_KNOWN = 2**53
SPAN_COLUMNS = ("gate", "behind")
NOTE_COLUMNS = ("gate", "running", "tokens", "refilled_at", "full_at")


@dataclass(slots=True)
class LimitGate:
    """A locked limit of a kind, or of a key within it. A `room` below 0 means that so many jobs
    too many have passed.

    `tokens` are those there were when it was locked; they grow until the last job starts. With
    `probes` it is the end of a hold: no more than so many pass.
    """

    name: str
    limit: Limit
    room: int
    tokens: float
    at: int
    used: int = 0
    last_at: int = 0
    probes: int | None = None

    @property
    def open(self) -> int:
        """How many jobs may pass now."""
        tokens = int(self.tokens) - self.used if self.limit.rate is not None else self.room
        probes = self.room if self.probes is None else self.probes - self.used
        return max(0, min(self.room, tokens, probes))

    @property
    def crowded(self) -> bool:
        """Whether jobs that this claim took have to go back."""
        return self.room < 0 or self.limit.rate is not None

    def let(self, jobs: int) -> None:
        """So many pass; a negative number takes that back."""
        self.room -= jobs
        self.used += jobs

    @property
    def left(self) -> float:
        """The tokens that are left after the last start."""
        seconds = (self.last_at - self.at) / MICROS
        return self.limit.refilled(self.tokens, seconds) - self.used

    def row(self) -> Row:
        """The values of NOTE_COLUMNS."""
        running = NOT_KNOWN if self.limit.running is None else self.limit.running - self.room
        if self.limit.rate is None:
            return self.name, running, self.tokens, self.at, self.at
        at = max(self.at, self.last_at)
        missing = (self.limit.bucket - self.left) / self.limit.each_second
        return self.name, running, self.left, at, at + math.ceil(missing * MICROS)


class LimitGates(dict[str, LimitGate]):
    """Locked gates by name. A key's gate stands behind its kind's: a job passes both."""

    def through(self, name: str) -> list[LimitGate]:
        """The gates that a job of this name passes."""
        return [self[one] for one in {name, kind_of(name)} if one in self]

    def open(self, name: str) -> int:
        """How many jobs of this name may pass now."""
        return min((gate.open for gate in self.through(name)), default=0)

    def let(self, name: str, jobs: int) -> None:
        """So many jobs of this name pass; a negative number takes that back."""
        for gate in self.through(name):
            gate.let(jobs)


def lock_gates(names: Collection[str], request: ClaimRequest) -> Plan[LimitGates]:
    """The gates of these names that have a limit, locked until the commit and counted."""
    limits = {name: found for name in names if (found := request.limits.at(name)) is not None}
    if not limits:
        return LimitGates()
    kept = yield Statement("lock_gates", {"gates": sorted(limits)})
    if missing := sorted(limits.keys() - {name for name, _, _ in kept}):
        new = [(name, float(limits[name].bucket)) for name in missing]
        yield Statement("add_gates", batch=Batch(("gate", "tokens"), new))
        kept = yield Statement("lock_gates", {"gates": sorted(limits)})
    counted = yield from _count(sorted(limits))
    buckets = {name: (tokens, refilled_at) for name, tokens, refilled_at in kept}
    gates = LimitGates()
    for name, running, now in counted:
        gates[name] = _gate(name, running, now, limits[name], *buckets[name])
    return gates


def _count(names: Sequence[str]) -> Plan[Rows]:
    """What runs at each gate. That of a kind counts the jobs of its keys too."""
    kinds = [(name, behind(name)) for name in names if SEPARATOR not in name]
    keys = [(name,) for name in names if SEPARATOR in name]
    counted: Rows = []
    if kinds:
        counted += yield Statement("count_gates", batch=Batch(SPAN_COLUMNS, kinds))
    if keys:
        counted += yield Statement("count_keys", batch=Batch(("gate",), keys))
    return counted


def _gate(
    name: str, running: int, now: int, limit: Limit, tokens: float, refilled_at: int
) -> LimitGate:
    """The count includes the jobs that this very claim has taken, so `room` may be negative."""
    room = MOST_RUNNING if limit.running is None else limit.running - running
    return LimitGate(name, limit, room, limit.refilled(tokens, (now - refilled_at) / MICROS), now)
