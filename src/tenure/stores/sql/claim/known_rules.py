"""What a worker knows of the rules of gates: limits of single keys, and holds.

Less than half a second after a change it is known here, because claims ask for what has changed.
Moments are seconds on the clock that leases are judged by.
"""

from __future__ import annotations

from collections.abc import Iterable

from tenure.core.rules.limits import Closed, Limit
from tenure.stores.sql.write.gate_rules import MICROS, RuleRow

READ_EVERY = 0.4
# A look just before it is time would have to come again.
READ_MARGIN = 0.005
# While something is held, a wake-up may mean its release.
READ_WOKEN = 0.02
# Everything is read anew now and then: removed rows are not reported, nor are versions that a copy
# of the table brought.
READ_ALL_EVERY = 60.0
# For so long after a held job was met, claims expect more of them.
MET_SECONDS = 1.0
LONG_AGO = float("-inf")
NEVER = float("inf")
ALL = -1


class KnownRules:
    """For one worker. `holds` are those that are not over, or that let jobs try."""

    def __init__(self) -> None:
        self.limits: dict[str, Limit] = {}
        self.holds: dict[str, Closed] = {}
        self.unsure: set[str] = set()
        self.new: set[str] = set()
        self.seen = ALL
        self._read_at = LONG_AGO
        self._whole_at = LONG_AGO
        self._met_at = LONG_AGO
        self._closed: frozenset[str] = frozenset()
        self._look_at = NEVER

    def read_soon(self, *, everything: bool = False) -> None:
        """The next claim reads what has changed, or all of them."""
        self._read_at = LONG_AGO
        if everything:
            self._whole_at = LONG_AGO

    def due(self, now: float, *, woken: bool) -> bool:
        """Whether it is time to ask for changes."""
        every = READ_WOKEN if woken and self._closed else READ_EVERY
        return now - self._read_at >= every

    def ask(self, now: float) -> int:
        """The version after which to read: ALL now and then."""
        self._read_at = now
        if now - self._whole_at >= READ_ALL_EVERY:
            return ALL
        return self.seen

    def learn(self, found: Iterable[RuleRow], now: float, *, everything: bool) -> None:
        """Take in what was read. `now` is a moment after the store's."""
        known = {*self.holds} if everything else self.unsure.copy()
        changed = everything or bool(self.unsure)
        for name in self.unsure:
            self.holds.pop(name, None)
        self.unsure.clear()
        if everything:
            self.limits, self.holds, self._whole_at = {}, {}, now
        for row in found:
            self._take_in(row, now)
            changed = True
            if row.name in self.holds and row.name not in known:
                self.new.add(row.name)
        if changed:
            self._look_at = LONG_AGO

    def take_new(self) -> frozenset[str]:
        """The gates that are held since the last call."""
        new, self.new = frozenset(self.new), set()
        return new

    def _take_in(self, row: RuleRow, now: float) -> None:
        self.seen = max(self.seen, row.version)
        limit, until = row.limit, row.held_until
        self.limits.pop(row.name, None)
        self.holds.pop(row.name, None)
        if limit is not None:
            self.limits[row.name] = limit
        if until is not None and (until > row.now or row.probes):
            self.holds[row.name] = Closed(now + (until - row.now) / MICROS, row.probes)

    def reopened(self, now: float) -> frozenset[str]:
        """Gates that were held at the last call and are no longer."""
        if now < self._look_at:
            return frozenset()
        over = [name for name, one in self.holds.items() if one.ends_at <= now and not one.probes]
        for name in over:
            del self.holds[name]
        closed = {name: one.ends_at for name, one in self.holds.items() if now < one.ends_at}
        before, self._closed = self._closed, frozenset(closed)
        self._look_at = min(closed.values(), default=NEVER)
        if self._closed - before:
            self.met(now)  # its jobs are still among the others
        return before - self._closed

    def met(self, now: float) -> None:
        """Jobs were claimed that a hold turns away."""
        self._met_at = now

    def quiet(self, now: float) -> bool:
        """Whether no held job is expected: none was met lately, and none may try."""
        trying = len(self.holds) > len(self._closed)
        return not trying and now - self._met_at >= MET_SECONDS

    def tried(self, names: Iterable[str]) -> None:
        """Jobs try, or another worker's do: closed until the next claim has read for how long."""
        for name in names:
            self.unsure.add(name)
            self.holds[name] = self.holds[name]._replace(ends_at=NEVER)
            self._look_at = LONG_AGO
            self.read_soon()

    def look_in(self, now: float) -> float | None:
        """In how many seconds a hold may have ended or be known as released, if there is one."""
        if not self._closed:
            return None
        read_at = self._read_at + READ_EVERY + READ_MARGIN
        return max(0.001, min(read_at, self._look_at) - now)
