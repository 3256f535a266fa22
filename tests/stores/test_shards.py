"""A claim with a shard takes its tenants' jobs and nobody else's, abandoned ones included."""

from __future__ import annotations

import pytest

from tenure.core.job import NewJob
from tenure.core.rules.shard import Shard
from tenure.stores.contract import ClaimRequest
from tenure.stores.sql.store import SqlStore
from tenure.testing.tempo import Tempo

pytestmark = pytest.mark.parametrize("clock", ["manual_clock"], indirect=True)
TENANTS = [f"tenant {n}" for n in range(20)]


def claimed(store: SqlStore, shard: Shard | None, owner: str) -> set[str]:
    found: set[str] = set()
    while True:
        request = ClaimRequest(
            owner=owner,
            kinds=["work"],
            slots={"default": 50},
            lease_seconds=30,
            thorough=True,
            shard=shard,
        )
        jobs = store.jobs.claim(request).jobs
        if not jobs:
            return found
        found |= {job.tenant for job in jobs}


def test_shards_divide_the_tenants(store: SqlStore) -> None:
    store.jobs.add([NewJob(kind="work", tenant=name) for name in TENANTS])

    parts = [claimed(store, Shard(index, 3), f"worker {index}") for index in range(3)]

    assert sorted(name for part in parts for name in part) == sorted(TENANTS)
    assert parts[1] == {name for name in TENANTS if Shard(1, 3).has(name)}


def test_what_a_dead_worker_left_is_taken_up_by_its_shard(store: SqlStore, tempo: Tempo) -> None:
    store.jobs.add([NewJob(kind="work", tenant=name) for name in TENANTS])
    assert claimed(store, None, "dead") == set(TENANTS)
    tempo.passes(31)

    assert claimed(store, Shard(0, 2), "a") == {n for n in TENANTS if Shard(0, 2).has(n)}
    assert claimed(store, Shard(1, 2), "b") == {n for n in TENANTS if Shard(1, 2).has(n)}


def test_what_others_left_behind_does_not_hide_what_is_ours(store: SqlStore, tempo: Tempo) -> None:
    theirs = next(name for name in TENANTS if Shard(1, 2).has(name))
    ours = next(name for name in TENANTS if Shard(0, 2).has(name))
    for name, count in ((theirs, 250), (ours, 3)):
        store.jobs.add([NewJob(kind="work", tenant=name) for _ in range(count)])
        assert claimed(store, None, "dead") == {name}
        tempo.passes(1)
    tempo.passes(31)

    assert claimed(store, Shard(0, 2), "a") == {ours}
