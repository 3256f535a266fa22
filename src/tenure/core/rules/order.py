"""Ties between jobs: why a queued job must wait, and which jobs the end of another releases."""

from __future__ import annotations

import zlib
from enum import IntFlag, StrEnum

from tenure.core.job import State

LOCKS = 512
SAME_LOCK = "##"


class Hold(IntFlag):
    """Why a queued job may not be claimed. A held row is not in the due index."""

    ORDER = 1
    AFTER = 2
    LIMIT = 4


class Chained(IntFlag):
    """What the end of a job has to release. Most jobs have no ties, and cost nothing here."""

    ORDER = 1
    SKIPS = 2
    AWAITED = 4
    LIMIT = 8
    FOLLOWED = 16


class OnFailure(StrEnum):
    """What becomes of those behind a job of their ordering key that failed for good.

    block: they wait until an operator retries or cancels it. skip: the next one goes on.
    """

    BLOCK = "block"
    SKIP = "skip"


class AfterFailure(StrEnum):
    """What becomes of a job when one that it waits for does not succeed.

    cancel: it ends canceled, and so do those that wait for it. run: it runs all the same.
    """

    CANCEL = "cancel"
    RUN = "run"


def lock_of(tenant: str, ordering_key: str) -> int:
    """One of some hundred locks: who shares one only waits for the other's commit.

    What follows SAME_LOCK in a key does not count, so that who needs several orders of one thing
    needs one lock, and two such cannot wait for each other.
    """
    thing = ordering_key.partition(SAME_LOCK)[0]
    return zlib.crc32(f"{tenant}\x00{thing}".encode()) % LOCKS


def blocks(state: State, chained: int) -> bool:
    """Whether a job in this state keeps those behind it from running."""
    if state in (State.FAILED, State.DEAD):
        return not chained & Chained.SKIPS
    return not state.final


def went_well(state: State) -> bool:
    """Whether jobs that wait for one in this final state may run. Skipped counts as success."""
    return state in (State.SUCCEEDED, State.SKIPPED)
