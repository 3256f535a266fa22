"""The store suite for a store that lacks nearly everything: what it lacks is skipped and named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tenure.stores import open_store
from tenure.stores.contract import Store
from tenure.stores.contract.combined import BESIDE_JOBS, combine
from tenure.testing.clock import ManualClock
from tenure.testing.conformance import suite
from tenure.testing.tempo import Tempo
from tests.stores.memory_jobs import MemoryJobs

globals().update(suite(MemoryJobs.capabilities | BESIDE_JOBS))


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def store(tmp_path: Path, clock: ManualClock) -> Iterator[Store]:
    """Jobs in memory, all else in SQLite."""
    others = open_store(f"sqlite:///{tmp_path / 'others.db'}", clock=clock)
    combined = combine(jobs=MemoryJobs(clock.now), others=others)
    yield combined
    combined.close()


@pytest.fixture
def tempo(store: Store, clock: ManualClock) -> Tempo:
    return Tempo(store, clock)
