"""Lanes that another process fills: seen at the next glance, not only at the next sweep."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tenure.core.job import NewJob
from tenure.stores import open_store
from tenure.stores.contract import ClaimRequest
from tenure.stores.sql.lookout import GLANCE_EVERY
from tenure.stores.sql.store import SqlStore
from tenure.testing.clock import ManualClock


@pytest.fixture
def here(database_url: str) -> Iterator[tuple[SqlStore, ManualClock]]:
    """A worker's store, on a clock that stands still."""
    clock = ManualClock()
    opened = open_store(database_url, clock=clock)
    yield opened, clock
    opened.close()


@pytest.fixture
def elsewhere(database_url: str, here: tuple[SqlStore, ManualClock]) -> Iterator[SqlStore]:
    """Another process's."""
    opened = open_store(database_url, clock=here[1])
    yield opened
    opened.close()


def claim(store: SqlStore) -> list[str]:
    request = ClaimRequest(owner="w", kinds=["work"], slots={"default": 10}, lease_seconds=60)
    return [job.id for job in store.jobs.claim(request).jobs]


@pytest.mark.parametrize("new", [{"tenant": "a"}, {"tenant": "z"}, {"priority": 0, "tenant": "m"}])
def test_a_new_lane_is_seen_at_the_next_glance(
    here: tuple[SqlStore, ManualClock], elsewhere: SqlStore, new: dict[str, object]
) -> None:
    store, clock = here
    elsewhere.jobs.add([NewJob(kind="work", tenant="m") for _ in range(500)])
    assert len(claim(store)) == 10
    clock.advance(seconds=GLANCE_EVERY)  # the first glance is over
    claim(store)
    [added] = elsewhere.jobs.add([NewJob(kind="work", **new)])  # type: ignore[arg-type]

    assert added.id not in claim(store)
    clock.advance(seconds=GLANCE_EVERY * 1.5)
    assert added.id in claim(store)
