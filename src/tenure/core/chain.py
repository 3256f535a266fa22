"""What ties jobs together: why a queued one must wait, and whom the end of another sets free."""

from __future__ import annotations

import zlib
from enum import IntFlag, StrEnum

from tenure.core.job import State

LOCKS = 512


class Hold(IntFlag):
    """Why a queued job may not be claimed; a held row is not in the due index."""

    ORDER = 1
    AFTER = 2
    LIMIT = 4


class Chained(IntFlag):
    """What the end of a job has to see to. Most jobs have none of it, and pay for none."""

    ORDER = 1
    SKIPS = 2
    AWAITED = 4
    LIMIT = 8


class OnFailure(StrEnum):
    """What becomes of those behind a job of their ordering key that failed for good.

    block: they wait until an operator retries or cancels it. skip: the next one goes on.
    """

    BLOCK = "block"
    SKIP = "skip"


def lock_of(tenant: str, ordering_key: str) -> int:
    """One of some hundred locks: who shares one only waits for the other's commit."""
    return zlib.crc32(f"{tenant}\x00{ordering_key}".encode()) % LOCKS


def blocks(state: State, chained: int) -> bool:
    """Whether a job in this state keeps those behind it from running."""
    if state in (State.FAILED, State.DEAD):
        return not chained & Chained.SKIPS
    return not state.final
