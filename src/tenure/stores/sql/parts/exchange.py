"""What a worker does most: settle what is done and claim what is next, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from tenure.core.settlement import Settlement
from tenure.stores.contract import Claim, ClaimRequest, Report, Written
from tenure.stores.sql.claim.lane_cache import LaneCache
from tenure.stores.sql.claim.sweep import claim
from tenure.stores.sql.database import Database
from tenure.stores.sql.driver_errors import naming_refused_rows
from tenure.stores.sql.endings.endings import Endings
from tenure.stores.sql.parts.claiming import SqlClaiming
from tenure.stores.sql.parts.settling import SqlSettling
from tenure.stores.sql.statement import Plan
from tenure.stores.sql.write.leases import report
from tenure.stores.sql.write.settle import PATIENCE_SECONDS, SettleResult, settle


class SqlExchange(SqlClaiming, SqlSettling):
    """See `tenure.stores.contract.Settling.exchange`."""

    def exchange(
        self,
        settlements: Sequence[Settlement],
        reports: Sequence[Report],
        request: ClaimRequest | None,
        *,
        careful: bool = False,
    ) -> tuple[Written, Claim]:
        """Report, settle, then claim."""
        if request is None and not reports:
            return self._settle_now(settlements, careful=careful), Claim()
        cache = None if request is None else self.lane_caches.of(request.owner, request.kinds)
        database, endings = self._database, self._endings
        plan = partial(exchange, settlements, reports, request, cache, database, endings)
        if cache is None or settlements:
            run = partial(self._database.run, plan, PATIENCE_SECONDS)
            ended, claimed = naming_refused_rows(self._database.dialect, run)
        else:
            ended, claimed = self._calmly(cache, plan)
        if request is not None:
            claimed = self._after_claim(request, claimed)
        return self._written(ended), claimed


def exchange(
    settlements: Sequence[Settlement],
    reports: Sequence[Report],
    request: ClaimRequest | None,
    cache: LaneCache | None,
    database: Database,
    endings: Endings,
) -> Plan[tuple[SettleResult, Claim]]:
    """Reports and endings come before the claim, because a claim may recover lost leases: a worker
    must not lose what it settles in the same breath.
    """
    if reports:
        yield from report(reports)
    ended = SettleResult()
    if settlements:
        ended = yield from settle(settlements, endings, PATIENCE_SECONDS)
    if request is None or cache is None:
        return ended, Claim()
    cache.revive(ended.freed)
    cache.parked.ended(ended.ids)
    return ended, (yield from claim(request, cache, database.elapsed, endings))
