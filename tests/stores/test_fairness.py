"""Lanes: new ones are seen at the next glance, and very many fill a claim no further than full."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from tenure.core.job import NewJob
from tenure.stores import open_store
from tenure.stores.contract import ClaimRequest
from tenure.stores.sql.claim.sweep_timer import GLANCE_EVERY
from tenure.stores.sql.store import SqlStore, sql_store
from tenure.testing.clock import ManualClock


@pytest.fixture
def here(database_url: str) -> Iterator[tuple[SqlStore, ManualClock]]:
    """A worker's store, on a clock that stands still."""
    clock = ManualClock()
    opened = sql_store(open_store(database_url, clock=clock))
    yield opened, clock
    opened.close()


@pytest.fixture
def elsewhere(database_url: str, here: tuple[SqlStore, ManualClock]) -> Iterator[SqlStore]:
    """Another process's."""
    opened = sql_store(open_store(database_url, clock=here[1]))
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


def test_very_many_lanes_fill_a_claim_and_never_more(
    here: tuple[SqlStore, ManualClock], elsewhere: SqlStore
) -> None:
    """Most have less than their turn; the last one asked has more than there was room for."""
    names = [f"t{number:03}" for number in range(200)]
    jobs = [NewJob(kind="work", tenant=name) for name in names]
    elsewhere.jobs.add(jobs + [NewJob(kind="work", tenant="t150") for _ in range(95)])
    request = ClaimRequest(owner="w", kinds=["work"], slots={"default": 90}, lease_seconds=60)

    claims = [here[0].jobs.claim(request).jobs for _ in range(5)]

    sizes = [len(claim) for claim in claims]
    assert sum(sizes) == 295
    assert max(sizes) == 90
    assert len({job.id for claim in claims for job in claim}) == 295


def test_each_queue_keeps_to_its_own_slots(
    here: tuple[SqlStore, ManualClock], elsewhere: SqlStore
) -> None:
    lanes = [(queue, f"t{number:03}") for queue in ("a", "b") for number in range(100)]
    elsewhere.jobs.add(
        [NewJob(kind="work", queue=queue, tenant=tenant) for queue, tenant in lanes] * 2
    )
    request = ClaimRequest(owner="w", kinds=["work"], slots={"a": 7, "b": 30}, lease_seconds=60)
    one = ClaimRequest(owner="w", kinds=["work"], slots={"a": 7}, lease_seconds=60)

    for asked, slots in ((request, {"a": 7, "b": 30}), (one, {"a": 7}), (request, request.slots)):
        got = Counter(job.queue for job in here[0].jobs.claim(asked).jobs)
        assert got <= Counter(slots)
        assert got["a"] >= 4
