"""Settlements that may have been written: the connection was lost before COMMIT was answered."""

from __future__ import annotations

from collections.abc import Iterable

from tenure.core.job import State
from tenure.core.lease import Lease
from tenure.core.settlement import Settlement
from tenure.stores.contract import JobStore


class UnknownCommits:
    """The leases whose settlements are in doubt. A second write of one would be refused, although
    the first was ours; reading the row tells.
    """

    def __init__(self, jobs: JobStore) -> None:
        self._jobs = jobs
        self._leases: set[Lease] = set()

    def __bool__(self) -> bool:
        return bool(self._leases)

    def add(self, batch: Iterable[Settlement]) -> None:
        """These may have been written."""
        self._leases.update(item.lease for item in batch)

    def drop(self, batch: Iterable[Settlement]) -> None:
        """These are known to be written, or never will be."""
        self._leases.difference_update([item.lease for item in batch])

    def found_settled(self, batch: list[Settlement], applied: frozenset[str]) -> frozenset[str]:
        """Those that are settled under our fence, and so by us. Reads rows: call it in a thread."""
        found = set()
        for item in batch:
            if item.lease.job_id in applied or item.lease not in self._leases:
                continue
            row = self._jobs.get(item.lease.job_id)
            if row is not None and row.fence == item.lease.fence and row.state is not State.RUNNING:
                found.add(row.id)
        return frozenset(found)
