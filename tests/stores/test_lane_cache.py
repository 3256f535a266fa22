"""What a worker knows of its lanes changes under its hands: jobs come from other threads."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

import pytest

from tenure.core.job import NewJob
from tenure.core.rules.limits import Limit, Limits
from tenure.stores.contract import ClaimRequest
from tenure.stores.sql.claim.lane_cache import LaneCache
from tenure.stores.sql.claim.parked_jobs import ParkedJobs
from tenure.stores.sql.store import SqlStore


@pytest.fixture(autouse=True)
def nervous() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def jobs(tenant: str) -> list[NewJob]:
    return [NewJob(kind="n", tenant=f"{tenant}-{number:04}") for number in range(2_000)]


@contextmanager
def meanwhile(act: Callable[[int], object]) -> Iterator[None]:
    """Again and again in another thread."""
    over = threading.Event()

    def repeat() -> None:
        for number in count():
            if over.is_set():
                return
            act(number)

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_lanes_are_learnt_while_others_are_read() -> None:
    cache = LaneCache()
    cache.learn(jobs("first"))

    with meanwhile(lambda number: cache.learn([NewJob(kind="n", tenant=f"late-{number}")])):
        for _ in range(200):
            assert len(cache.live_in({"default"})) >= 2_000
            assert len(cache.known) >= 2_000
            assert cache.drained_in({"default"}) == []


def test_gates_are_found_while_jobs_end() -> None:
    parking, limits = ParkedJobs(), Limits(kinds={"n": Limit(running=1)})
    for number in range(2_000):
        parking.add(f"n\x1f{number}")

    def come_and_go(number: int) -> None:
        parking.add(f"late\x1f{number}")
        parking.emptied([f"late\x1f{number}"])

    with meanwhile(come_and_go):
        for _ in range(50):
            parking.worth_a_look(1.0, limits)


def test_claims_go_on_while_other_threads_add_tenants(store: SqlStore) -> None:
    store.jobs.add(jobs("first"))
    request = ClaimRequest(owner="w", kinds=["n"], slots={"default": 3}, lease_seconds=30)

    with meanwhile(lambda number: store.jobs.add([NewJob(kind="n", tenant=f"late-{number}")])):
        claims = [store.jobs.claim(request).jobs for _ in range(60)]

    assert all(claims)
    claimed = [job.id for jobs in claims for job in jobs]
    assert len(set(claimed)) == len(claimed)
