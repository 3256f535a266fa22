"""Claiming jobs, and keeping the leases of those that run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from tenure.core.errors import StoreBusy
from tenure.core.lease import Lease
from tenure.stores.contract import Claim, ClaimRequest, Extension, Report
from tenure.stores.sql.claim import sweep
from tenure.stores.sql.claim.claim import claim_known, must_sweep
from tenure.stores.sql.claim.held_gates import may_go_loose, read_rules, with_rules
from tenure.stores.sql.claim.lane_cache import LaneCache
from tenure.stores.sql.foreign.transaction import run_in
from tenure.stores.sql.parts.part import SqlPart
from tenure.stores.sql.statement import Plan
from tenure.stores.sql.write import leases as write
from tenure.stores.sql.write.settle import PATIENCE_SECONDS
from tenure.wakeups.due_jobs import Due

T = TypeVar("T")


class SqlClaiming(SqlPart):
    """See `tenure.stores.contract.Claiming`."""

    def claim(self, request: ClaimRequest) -> Claim:
        """Due jobs, from known lanes or by a sweep."""
        return self._wake_for_released(self._claim(request))

    def _claim(self, request: ClaimRequest) -> Claim:
        cache, elapsed = self.lane_caches.of(request.owner, request.kinds), self._database.elapsed
        loose = self._database.dialect.loose
        if loose:
            request = self._with_rules(request, cache)
            loose = may_go_loose(request, cache, elapsed())
        if loose and not must_sweep(request, cache, elapsed()):
            known = self._database.run_loose(partial(claim_known, request, cache, elapsed))
            if known.jobs or not (request.woken or cache.timer.may_sweep(elapsed())):
                return known
            if request.woken:
                return self._database.run_loose(partial(sweep.glance, request, cache, elapsed))
            return self._calmly(cache, partial(sweep.sweep, request, cache, elapsed))
        return self._calmly(cache, partial(sweep.claim, request, cache, elapsed))

    def _with_rules(self, request: ClaimRequest, cache: LaneCache) -> ClaimRequest:
        elapsed = self._database.elapsed
        if cache.rules.due(elapsed(), woken=bool(request.woken)):
            self._database.run_loose(partial(read_rules, request, cache, elapsed))
        return with_rules(request, cache, elapsed())

    def _calmly(self, cache: LaneCache, plan: Callable[[], Plan[T]]) -> T:
        """Run a plan that may sweep. If a lock keeps the sweep from ending a job, leave such jobs
        alone for some seconds.
        """
        try:
            return self._database.run(plan, PATIENCE_SECONDS)
        except StoreBusy:
            cache.timer.be_calm(self._database.elapsed())
            return self._database.run(plan)

    def _wake_for_released(self, found: Claim) -> Claim:
        """Jobs of lost leases went back to their queues: idle workers may take them."""
        if found.released:
            self._wakeups.tell(Due(frozenset(found.released.values())))
        return found

    def extend(self, leases: Sequence[Lease], seconds: float) -> Extension:
        """Prolong leases."""
        return self._database.run(partial(write.extend, leases, seconds))

    def report(self, reports: Sequence[Report], tx: Any = None) -> frozenset[str]:
        """Write progress and log lines."""
        if not reports:
            return frozenset()
        return run_in(self._database, tx, partial(write.report, reports))
