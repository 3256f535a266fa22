"""Lists: keyset pages in a stable order, without payloads."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tenure.core.errors import OptionError
from tenure.core.filter import JobFilter
from tenure.core.job import State
from tenure.core.page import MAX_PAGE, Cursor
from tenure.stores.contract import Store
from tenure.testing.conformance.actions import (
    add_job,
    add_jobs,
    cancel,
    claim_one,
    finished_job,
    settle,
    start_job,
)

NOT_BASE64 = ["", "!", "é", "[1]", "x" * 999]
NOT_A_POSITION = ["abc", "W10", "AAAA", "WyJhIl0", "WzEsMl0", "WzBd", "Wy0xXQ"]


def test_a_page_shows_the_newest_first(store: Store) -> None:
    ids = add_jobs(store, 5)

    page = store.jobs.page(JobFilter())

    assert [job.id for job in page.rows] == ids[::-1]
    assert page.next is None


def test_pages_follow_each_other_without_gaps(store: Store) -> None:
    ids = add_jobs(store, 23)
    seen: list[str] = []
    after: str | None = None
    while True:
        page = store.jobs.page(JobFilter(), limit=5, after=after)
        seen += [job.id for job in page.rows]
        if (after := page.next) is None:
            break

    assert seen == ids[::-1]


def test_a_page_that_is_just_full_has_no_next(store: Store) -> None:
    add_jobs(store, 5)

    assert store.jobs.page(JobFilter(), limit=5).next is None
    assert store.jobs.page(JobFilter(), limit=4).next is not None


def test_a_walk_stays_as_it_was_while_jobs_are_added(store: Store) -> None:
    ids = add_jobs(store, 6)
    first = store.jobs.page(JobFilter(), limit=3)
    add_jobs(store, 10)
    second = store.jobs.page(JobFilter(), limit=3, after=first.next)

    assert [job.id for job in (*first.rows, *second.rows)] == ids[::-1]


def test_a_page_keeps_to_its_filter(store: Store) -> None:
    wanted = [add_job(store, tenant=tenant) for tenant in ("a", "b", "a", "b", "a")][::2]
    first = store.jobs.page(JobFilter(tenant="a"), limit=2)
    second = store.jobs.page(JobFilter(tenant="a"), limit=2, after=first.next)

    assert [job.id for job in (*first.rows, *second.rows)] == wanted[::-1]
    assert second.next is None


def test_lists_leave_payload_and_result_where_they_are(store: Store) -> None:
    job = start_job(store, payload='{"a": 1}')
    settle(store, job, State.SUCCEEDED, result="1")

    [row] = store.jobs.page(JobFilter()).rows
    assert (row.payload_json, row.result_json) == (None, None)
    assert row.id == job.id


def test_a_row_of_a_page_is_the_job_itself(store: Store) -> None:
    job = start_job(store, tenant="a", owner="o", key=None, correlation_id="c", enqueued_by="e")
    whole = store.jobs.get(job.id)

    assert whole is not None
    [row] = store.jobs.page(JobFilter()).rows
    assert row == replace(whole, payload_json=None, result_json=None, waits_for=None)


def test_a_page_has_bounds(store: Store) -> None:
    for limit in (0, -1, MAX_PAGE + 1):
        with pytest.raises(OptionError):
            store.jobs.page(JobFilter(), limit=limit)


def test_what_is_no_cursor_is_refused(store: Store) -> None:
    for text in NOT_BASE64 + NOT_A_POSITION:
        with pytest.raises(OptionError):
            store.jobs.page(JobFilter(), after=text)


def test_a_cursor_beyond_every_id_is_refused(store: Store) -> None:
    with pytest.raises(OptionError):
        store.jobs.page(JobFilter(), after=Cursor((2**63,)).encode())


def test_the_count_is_by_state(store: Store) -> None:
    assert store.jobs.count(JobFilter()) == {}
    finished_job(store)
    finished_job(store, State.FAILED)
    start_job(store)
    cancel(store, add_job(store))
    add_jobs(store, 3)

    assert store.jobs.count(JobFilter()) == {
        State.QUEUED: 3,
        State.RUNNING: 1,
        State.SUCCEEDED: 1,
        State.FAILED: 1,
        State.CANCELED: 1,
    }


def test_the_count_keeps_to_its_filter(store: Store) -> None:
    add_jobs(store, 3, tenant="a")
    add_job(store, tenant="b")
    claim_one(store)

    assert sum(store.jobs.count(JobFilter(tenant="a")).values()) == 3
