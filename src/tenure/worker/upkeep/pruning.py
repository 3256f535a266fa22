"""Removes finished jobs that need not be kept any longer, and frees stopped ordering keys.

One worker of a fleet prunes at a time, in small parts that never delay a claim. How far it got is
a record in the store, so that the next pruner, or the next `tenure tick`, goes on from there.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tenure.app import Tenure
from tenure.core.filter import JobFilter
from tenure.core.rules.retention import Purged, Rule, Walk, onward, resume, rules
from tenure.core.timing.budget import Budget
from tenure.stores.contract import Capability
from tenure.stores.contract.parts import HeldLock, Record

PRUNING = "pruning"
NEEDED = frozenset({Capability.LOCKS, Capability.RECORDS})
LEASE_SECONDS = 60.0
SMALLEST_CHUNK = 10
# A chunk is a transaction that claims may have to wait for: it should take between these.
QUICK_SECONDS = 0.03
SLOW_SECONDS = 0.1
STOPPED_KEYS = "stopped keys"
STOPPED_AGAIN = timedelta(minutes=1)
ROLLUPS = "rollups"
ROLLUPS_AGAIN = timedelta(minutes=1)
ROLLUPS_PRUNED = 10_000
HELD_AT_ONCE = 5_000
HELD_PER_TURN = 20


class Pruner:
    """Holds the fleet's lock from its first turn until `release`. Used by one thread at a time."""

    def __init__(self, app: Tenure, owner: str, stopped: Callable[[], bool]) -> None:
        self._app = app
        self._owner = owner
        self._stopped = stopped
        keep, keep_letters = app.settings.keep_seconds, app.settings.keep_dead_letters_seconds
        self._rules = rules(keep, keep_letters)
        self._limit = app.settings.prune_chunk
        self._held: HeldLock | None = None
        self._sure_until = 0.0
        self.behind = False

    def once(self, budget: Budget) -> int:
        """One turn within a tick."""
        try:
            return self.turn(budget)
        finally:
            self.release()

    def turn(self, budget: Budget) -> int:
        """Remove chunks until the budget is spent, nothing is due, or another worker prunes."""
        self.behind = False
        if not self._hold():
            return 0
        self._free_stopped_keys(budget)
        if not self._rules:  # all jobs are kept, but keys expire
            self._purge(JobFilter(ids=()), self._app.store.now(), None, budget)
        removed = sum([self._follow(rule, budget) for rule in self._rules])
        self._prune_rollups(budget)
        self._app.features.prune(self._limit, lambda: self._must_end(budget))
        if removed:
            self._app.signals.emit("jobs.purged", jobs=removed)
        return removed

    def release(self) -> None:
        """Give up the lock, so that another worker can prune."""
        held, self._held = self._held, None
        if held is not None:
            self._app.store.locks.release(held)

    def _free_stopped_keys(self, budget: Budget) -> None:
        """Look through held jobs, a bounded part of them, once a minute in the whole fleet."""
        orders, now = self._app.store.orders, self._app.store.now()
        walk = self._recall(STOPPED_KEYS) or Walk(datetime.min.replace(tzinfo=UTC))
        if now - walk.begun < STOPPED_AGAIN:
            return
        after, released = walk.after, 0
        for _ in range(HELD_PER_TURN):
            if self._must_end(budget):
                break
            found = orders.stopped(HELD_AT_ONCE, after)
            released += sum([orders.release(order) for order in found.orders])
            after = found.next
            if after is None:
                break
        self._remember(STOPPED_KEYS, Walk(now, after))
        if released:
            self._app.signals.emit("orders.released", keys=released)

    def _prune_rollups(self, budget: Budget) -> None:
        """Once a minute in the whole fleet: the rows of a minute are few."""
        if Capability.ROLLUPS not in self._app.store.capabilities or self._must_end(budget):
            return
        now, walk = self._app.store.now(), self._recall(ROLLUPS)
        if walk is None or now - walk.begun >= ROLLUPS_AGAIN:
            self._app.store.rollups.prune(ROLLUPS_PRUNED)
            self._remember(ROLLUPS, Walk(now, None))

    def _follow(self, rule: Rule, budget: Budget) -> int:
        """Follow a retention rule from where the last turn ended."""
        now = self._app.store.now()
        before, where = now - rule.keep, JobFilter(states=rule.states)
        known = self._recall(rule.name)
        walk = resume(rule, known, now)
        further: Walk | None = walk
        removed = 0
        while further is not None and not self._must_end(budget):
            walk = further
            part = self._purge(where, before, walk.after, budget)
            removed += part.removed
            further = onward(rule, walk, part, before)
        self.behind = self.behind or further is not None
        if (reached := further or walk) != known:
            self._remember(rule.name, reached)
        return removed

    def _must_end(self, budget: Budget) -> bool:
        return budget.spent or self._stopped() or not self._hold()

    def _purge(
        self, where: JobFilter, before: datetime, after: str | None, budget: Budget
    ) -> Purged:
        """Remove one chunk. The next one is smaller if this one took long."""
        limit = min(self._limit, budget.items_left or self._limit)
        begun = time.monotonic()
        part = self._app.store.jobs.purge(where, before, limit, after)
        self._limit = fitting(limit, time.monotonic() - begun, self._app.settings.prune_chunk)
        budget.use(part.removed)
        self.behind = self.behind or part.keys == limit
        return part

    def _hold(self) -> bool:
        """Whether this worker holds the fleet's lock; the store is asked only now and then."""
        store = self._app.store
        if time.monotonic() < self._sure_until and self._held is not None:
            return True
        if not store.capabilities >= NEEDED:
            return False
        asked = time.monotonic()
        if self._held is None or not store.locks.renew(self._held, LEASE_SECONDS):
            self._held = store.locks.acquire(PRUNING, self._owner, LEASE_SECONDS)
        self._sure_until = asked + LEASE_SECONDS / 3
        return self._held is not None

    def _recall(self, name: str) -> Walk | None:
        found = self._app.store.records.find(PRUNING, name)
        if found is None:
            return None
        return Walk(datetime.fromisoformat(found.data["begun"]), found.data["after"])

    def _remember(self, name: str, walk: Walk) -> None:
        data: dict[str, Any] = {"begun": walk.begun.isoformat(), "after": walk.after}
        self._app.store.records.upsert(Record(collection=PRUNING, name=name, data=data))


def fitting(limit: int, took: float, most: int) -> int:
    """The size of the next chunk, after one of size `limit` took this many seconds."""
    if took > SLOW_SECONDS:
        return max(min(SMALLEST_CHUNK, most), limit // 2)
    return min(most, limit * 2) if took < QUICK_SECONDS else limit
