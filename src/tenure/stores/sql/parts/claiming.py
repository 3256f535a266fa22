"""Claiming jobs, and keeping the leases of those that run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from tenure.core.errors import StoreBusy
from tenure.core.lease import Lease
from tenure.stores.contract import Claim, ClaimRequest, Extension, Report
from tenure.stores.sql.claim import sweep
from tenure.stores.sql.claim.claim import claim_known, must_sweep
from tenure.stores.sql.claim.held_gates import may_go_loose, read_rules, with_rules
from tenure.stores.sql.claim.lane_cache import LaneCache
from tenure.stores.sql.database import Database
from tenure.stores.sql.foreign.transaction import run_in
from tenure.stores.sql.parts.endings import SqlEndings
from tenure.stores.sql.parts.followed_ends import FollowedEnds
from tenure.stores.sql.parts.part import SqlPart
from tenure.stores.sql.statement import Plan, Statement
from tenure.stores.sql.write import leases as write
from tenure.stores.sql.write.settle import PATIENCE_SECONDS
from tenure.wakeups.due_jobs import Due, Wakeups

T = TypeVar("T")


class SqlClaiming(SqlPart):
    """See `tenure.stores.contract.Claiming`."""

    def __init__(self, database: Database, wakeups: Wakeups, endings: SqlEndings) -> None:
        super().__init__(database, wakeups, endings)
        self._followed = FollowedEnds(database, endings)

    def claim(self, request: ClaimRequest) -> Claim:
        """Due jobs, from known lanes or by a sweep."""
        return self._after_claim(request, self._claim(request))

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
            return self._calmly(cache, partial(sweep.sweep, request, cache, elapsed, self._endings))
        return self._calmly(cache, partial(sweep.claim, request, cache, elapsed, self._endings))

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

    def _after_claim(self, request: ClaimRequest, found: Claim) -> Claim:
        """Jobs of lost leases went back to their queues: idle workers may take them. Jobs that
        features follow are looked after, if there are any.
        """
        if found.released:
            self._wakeups.tell(Due(frozenset(found.released.values())))
        if not self._endings.kinds:
            return found
        self._mark(found)
        if not self._followed.look_due(thorough=request.thorough):
            return found
        look = self._followed.look(thorough=request.thorough)
        if look.freed:
            self.lane_caches.revive(look.freed)
            self._wakeups.tell(Due(frozenset(lane.queue for lane in look.freed)))
        return replace(found, ended=[*found.ended, *look.ended], unended=look.failed)

    def _mark(self, found: Claim) -> None:
        """Before they run: jobs that were added by a process which did not know the feature."""
        kinds = self._endings.kinds
        if ids := [int(job.lease.job_id) for job in found.jobs if job.kind in kinds]:
            values = {"ids": sorted(ids), "kinds": sorted(kinds)}
            if self._database.read(Statement("unfollowed", values)):
                self._database.run(partial(self._endings.mark, ids))

    def extend(self, leases: Sequence[Lease], seconds: float) -> Extension:
        """Prolong leases."""
        return self._database.run(partial(write.extend, leases, seconds))

    def report(self, reports: Sequence[Report], tx: Any = None) -> frozenset[str]:
        """Write progress and log lines."""
        if not reports:
            return frozenset()
        return run_in(self._database, tx, partial(write.report, reports))
