"""Asks the store for jobs, and tells what a claim has done on its way."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any

from tenure.app import Tenure
from tenure.stores.contract import Claim, ClaimRequest
from tenure.worker.claiming.claim_terms import ClaimTerms
from tenure.worker.settling.settler import Settler


class Claimer:
    """Claims from a thread. `tell_ended(ids)` wakes those who wait for jobs that a claim ended."""

    def __init__(
        self,
        app: Tenure,
        terms: ClaimTerms,
        settler: Settler,
        in_thread: Callable[..., Awaitable[Any]],
        tell_ended: Callable[[list[str]], None],
    ) -> None:
        self._store = app.store
        self._signals = app.signals
        self._terms = terms
        self._settler = settler
        self._in_thread = in_thread
        self._tell_ended = tell_ended
        self.claimed_at = 0.0

    async def claim(self, room: dict[str, int], woken: frozenset[str], *, thorough: bool) -> Claim:
        """As many jobs as there is room for, by queue."""
        self.claimed_at = asked_at = time.monotonic()
        claim = await self._exchange(self._terms.request(room, woken, thorough=thorough))
        self._signals.emit(
            "jobs.claimed", jobs=len(claim.jobs), seconds=time.monotonic() - asked_at
        )
        self._tell(claim)
        return claim

    async def claim_nothing(self) -> None:
        """Only what every claim does besides: recover lost leases, end what expired."""
        self.claimed_at = time.monotonic()
        self._tell(await self._exchange(self._terms.request({}, thorough=True)))

    async def _exchange(self, request: ClaimRequest) -> Claim:
        """On a database with one writer the settlements go along; elsewhere the two overlap."""
        if self._store.fused:
            return await self._settler.along(request)
        claim: Claim = await self._in_thread(self._store.jobs.claim, request)
        return claim

    def _tell(self, claim: Claim) -> None:
        """What the claim has ended or put back into the queue."""
        self._tell_ended([job_id for job_id, _, _ in claim.ended])
        for job_id, state, reason in claim.ended:
            self._signals.emit("job.ended", id=job_id, state=state, reason=reason)
        for error in set(claim.unended.values()):
            self._signals.emit("ending.failed", error=error)
        if claim.released:
            self._signals.emit("jobs.recovered", jobs=len(claim.released))
