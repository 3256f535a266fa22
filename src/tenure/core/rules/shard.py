"""A shard: a part of the tenants, so that several workers share the work without meeting."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from zlib import crc32

from tenure.core.errors import OptionError

BUCKETS = 256


@lru_cache(maxsize=65_536)
def bucket(tenant: str) -> int:
    """The bucket of a tenant; the same in every process and version."""
    return crc32(tenant.encode()) % BUCKETS


@dataclass(frozen=True, slots=True)
class Shard:
    """Shard `index` of `count`: the tenants whose bucket belongs to it."""

    index: int
    count: int

    def __post_init__(self) -> None:
        if not 1 <= self.count <= BUCKETS or not 0 <= self.index < self.count:
            raise OptionError(
                f"there is no shard {self.index} of {self.count}: with a count from 1 to {BUCKETS} "
                "the index goes from 0 to the count less one"
            )

    def has(self, tenant: str) -> bool:
        """Whether this tenant belongs to the shard."""
        return bucket(tenant) % self.count == self.index
