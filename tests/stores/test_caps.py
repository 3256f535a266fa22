"""Leases that ran out, of tenants that have a cap: they wait for room and for nothing else."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tenure.core.job import NewJob, State
from tenure.core.lease import ClaimedJob
from tenure.core.rules.limits import Limits
from tenure.core.settlement import Settlement
from tenure.stores.contract import ClaimRequest
from tenure.stores.sql.store import SqlStore
from tenure.testing.tempo import Tempo

pytestmark = pytest.mark.parametrize("clock", ["manual_clock"], indirect=True)
CAPPED = Limits(tenants={"acme": 1})


def add(store: SqlStore, tenant: str, count: int = 1) -> None:
    store.jobs.add([NewJob(kind="work", tenant=tenant) for _ in range(count)])


def claim(store: SqlStore, owner: str, seconds: float, limits: Limits) -> Sequence[ClaimedJob]:
    request = ClaimRequest(
        owner=owner,
        kinds=["work"],
        slots={"default": 500},
        lease_seconds=seconds,
        thorough=True,
        limits=limits,
    )
    return store.jobs.claim(request).jobs


def test_room_for_a_tenant_is_used_by_what_its_dead_worker_left(
    store: SqlStore, tempo: Tempo
) -> None:
    add(store, "acme")
    [left] = claim(store, "dead", 30, Limits())
    add(store, "acme")
    [lives] = claim(store, "a", 3_600, Limits())
    tempo.passes(31)
    for _ in range(2):
        assert claim(store, "b", 30, CAPPED) == []
        tempo.passes(10)

    store.jobs.settle([Settlement(lease=lives.lease, state=State.SUCCEEDED)])
    assert [job.id for job in claim(store, "b", 30, CAPPED)] == [left.id]


def test_what_a_capped_tenant_left_behind_does_not_hide_that_of_others(
    store: SqlStore, tempo: Tempo
) -> None:
    for tenant, count in (("acme", 250), ("zeta", 3)):
        add(store, tenant, count)
        assert len(claim(store, "dead", 30, Limits())) == count
        tempo.passes(1)
    tempo.passes(31)

    found = claim(store, "b", 30, CAPPED)
    assert sorted(job.tenant for job in found) == ["acme", "zeta", "zeta", "zeta"]
