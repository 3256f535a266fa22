"""The lane caches of all workers in this process, and what concerns them all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tenure.core.job import NewJob
from tenure.core.rules.shares import Lane
from tenure.stores.sql.claim.lane_cache import LaneCache

# Tests and restarted workers leave caches behind.
CACHES_KEPT = 32


class LaneCaches:
    """One cache for each worker and set of kinds; the oldest go when there are many."""

    def __init__(self) -> None:
        self._caches: dict[tuple[str, frozenset[str]], LaneCache] = {}

    def of(self, owner: str, kinds: Iterable[str]) -> LaneCache:
        """The cache of this worker."""
        name = (owner, frozenset(kinds))
        found = self._caches.get(name)
        if found is None:
            while len(self._caches) >= CACHES_KEPT:
                self._caches.pop(next(iter(self._caches)), None)
            found = self._caches[name] = LaneCache()
        return found

    def learn(self, jobs: Sequence[NewJob]) -> None:
        """Jobs were added in this process."""
        for cache in list(self._caches.values()):
            cache.learn(jobs)

    def revive(self, lanes: Sequence[Lane]) -> None:
        """Jobs of these lanes were held and may run now."""
        for cache in list(self._caches.values()):
            cache.revive(lanes)

    def ended(self, job_ids: frozenset[str]) -> None:
        """Jobs have ended in this process: limits may have room."""
        for cache in list(self._caches.values()):
            cache.parked.ended(job_ids)

    def rules_changed(self) -> None:
        """A limit of a key or a hold was changed in this process: the next claims read them."""
        for cache in list(self._caches.values()):
            cache.rules.read_soon(everything=True)

    def forget(self) -> None:
        """An operator changed jobs or queues: the next claims sweep."""
        for cache in list(self._caches.values()):
            cache.forget()
