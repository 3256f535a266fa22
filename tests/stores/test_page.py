"""Pages of open jobs: the same rows, whether the nearest ids or the indexes give them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tenure.core.filter import JobFilter
from tenure.core.job import NewJob, State
from tenure.core.settlement import Settlement
from tenure.stores import open_store
from tenure.stores.contract import ClaimRequest
from tenure.stores.sql.read import page
from tenure.stores.sql.store import SqlStore, sql_store

FILTERS = (
    JobFilter(states=(State.QUEUED,)),
    JobFilter(states=(State.RUNNING,)),
    JobFilter(states=(State.QUEUED, State.RUNNING)),
    JobFilter(states=(State.QUEUED,), tenant="t1"),
    JobFilter(states=(State.QUEUED, State.RUNNING), kinds=("b",), queues=("default",)),
)


@pytest.fixture
def store(database_url: str) -> Iterator[SqlStore]:
    opened = sql_store(open_store(database_url))
    yield opened
    opened.close()


def fill(store: SqlStore) -> None:
    """Old ones that wait, are behind another or run; then many that have ended."""
    request = ClaimRequest(owner="w", kinds=["a", "b"], slots={"default": 4}, lease_seconds=600)
    for kind in ("a", "b"):
        store.jobs.add([NewJob(kind=kind, tenant=f"t{number % 3}") for number in range(9)])
    store.jobs.claim(request)
    store.jobs.add([NewJob(kind="b", ordering_key="k") for _ in range(3)])
    store.jobs.add([NewJob(kind="c", priority=number) for number in range(20)])
    ended = ClaimRequest(owner="w", kinds=["c"], slots={"default": 20}, lease_seconds=600)
    store.jobs.settle(
        [Settlement(lease=job.lease, state=State.SUCCEEDED) for job in store.jobs.claim(ended).jobs]
    )


def walk(store: SqlStore, where: JobFilter, limit: int) -> list[str]:
    found: list[str] = []
    after: str | None = None
    for _ in range(100):
        got = store.jobs.page(where, limit, after)
        found += [job.id for job in got.rows]
        if (after := got.next) is None:
            return found
    raise AssertionError("pages without an end")


@pytest.mark.parametrize("where", FILTERS)
def test_open_jobs_are_found_behind_many_that_ended(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch, where: JobFilter
) -> None:
    fill(store)
    every = store.jobs.page(JobFilter(), 200).rows
    meant = [job.id for job in every if _matches(where, job.state, job.kind, job.tenant)]
    assert meant
    for near in (5_000, 7, 1):
        monkeypatch.setattr(page, "NEAR", near)
        assert walk(store, where, 4) == meant
        assert walk(store, where, 200) == meant


def test_a_full_page_of_the_newest_is_one_statement(store: SqlStore) -> None:
    store.jobs.add([NewJob(kind="a") for _ in range(20)])
    asked: list[str] = []
    store.measure(lambda name, seconds: asked.append(name))

    assert len(store.jobs.page(JobFilter(states=(State.QUEUED,)), 10).rows) == 10
    assert asked.count("page_jobs") == 1
    assert "page_open_jobs" not in asked


def test_states_may_be_plain_words(store: SqlStore) -> None:
    [added] = store.jobs.add([NewJob(kind="a")])

    found = store.jobs.page(JobFilter(states=("queued",)))  # type: ignore[arg-type]
    assert [job.id for job in found.rows] == [added.id]


def _matches(where: JobFilter, state: State, kind: str, tenant: str) -> bool:
    return (
        state in (where.states or ())
        and (where.tenant is None or tenant == where.tenant)
        and (where.kinds is None or kind in where.kinds)
    )
