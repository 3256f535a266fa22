"""The one place where a store's missing abilities are refused.

A store that can do everything is never wrapped, so it pays nothing for these checks. `guarded`
wraps the jobs of a store that lacks something; `need` is for single calls elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, cast

from tenure.core.capability import Capability, CapabilityError
from tenure.core.job import NewJob
from tenure.core.settlement import Settlement
from tenure.stores.contract.adding import Added
from tenure.stores.contract.claiming import Claim, ClaimRequest
from tenure.stores.contract.jobs import JobStore
from tenure.stores.contract.reporting import Report
from tenure.stores.contract.settling import Written


class Named(Protocol):
    """A store, or its jobs."""

    @property
    def name(self) -> str:
        """What messages call it."""
        ...

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What it can do."""
        ...


def need(store: Named, *capabilities: Capability) -> None:
    """Raise CapabilityError for the first of these that the store lacks."""
    for capability in capabilities:
        if capability not in store.capabilities:
            raise CapabilityError(capability, store.name)


JOB_NEEDS: dict[Capability, Callable[[NewJob], object]] = {
    Capability.UNIQUE_KEYS: lambda job: job.key,
    Capability.ORDER: lambda job: job.ordering_key,
    Capability.DEPENDENCIES: lambda job: job.after,
    Capability.EXPIRY: lambda job: job.expires_at or job.expires_seconds is not None,
    Capability.LIMITS: lambda job: job.limit_key,
    Capability.BATCHES: lambda job: job.batch_id,
    Capability.SUB_SECOND: lambda job: job.run_at and job.run_at.microsecond,
}
"""What a new job asks of its store."""

CLAIM_NEEDS: dict[Capability, Callable[[ClaimRequest], object]] = {
    Capability.LIMITS: lambda request: request.limits,
    Capability.SHARES: lambda request: request.weights or request.unfair,
    Capability.SHARDS: lambda request: request.shard,
}
"""What a claim asks of its store."""


def _asked(needs: dict[Capability, Callable[[Any], object]], value: Any) -> Iterator[Capability]:
    return (capability for capability, asks in needs.items() if asks(value))


def guarded(jobs: JobStore) -> JobStore:
    """These jobs, refusing what they cannot do; the same object if they can do everything."""
    if jobs.capabilities.issuperset(JOB_NEEDS.keys() | CLAIM_NEEDS.keys()):
        return jobs
    return cast(JobStore, GuardedJobs(jobs))


class GuardedJobs:
    """A jobs part in front of which new jobs and claims are checked. All else is its own."""

    def __init__(self, jobs: JobStore) -> None:
        self._jobs = jobs

    def __getattr__(self, name: str) -> Any:
        return getattr(self._jobs, name)

    def add(
        self, jobs: Sequence[NewJob], tx: Any = None, *, notify: str | None = None
    ) -> list[Added]:
        """Nothing is added if one of them asks for too much."""
        self._check(jobs, tx)
        return self._jobs.add(jobs, tx, notify=notify)

    async def add_async(
        self, jobs: Sequence[NewJob], tx: Any = None, *, notify: str | None = None
    ) -> list[Added]:
        """The same from a coroutine."""
        self._check(jobs, tx)
        return await self._jobs.add_async(jobs, tx, notify=notify)

    def claim(self, request: ClaimRequest) -> Claim:
        """Refused if it relies on rules that the store does not know."""
        need(self._jobs, *_asked(CLAIM_NEEDS, request))
        return self._jobs.claim(request)

    def exchange(
        self,
        settlements: Sequence[Settlement],
        reports: Sequence[Report],
        request: ClaimRequest | None,
        *,
        careful: bool = False,
    ) -> tuple[Written, Claim]:
        """Checked like a claim."""
        if request is not None:
            need(self._jobs, *_asked(CLAIM_NEEDS, request))
        return self._jobs.exchange(settlements, reports, request, careful=careful)

    def _check(self, jobs: Sequence[NewJob], tx: Any) -> None:
        if tx is not None:
            need(self._jobs, Capability.TRANSACTIONS)
        for job in jobs:
            need(self._jobs, *_asked(JOB_NEEDS, job))
