"""Searching jobs: each word finds what it says, and no search reads the whole table."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tenure import Fail, JobFilter, RunningJob, Tenure
from tenure.core.job import State
from tenure.core.rules.error_groups import shown
from tenure.core.search import search
from tenure.stores.contract import ClaimRequest
from tenure.stores.contract.reading import Count, Precision
from tenure.stores.sql.read import counts, walk
from tenure.worker import Worker

LONG = "x" * 500


@pytest.fixture
def app(database_url: str) -> Iterator[Tenure]:
    app = Tenure(database_url)

    @app.job("ok", queue="q1")
    def ok(job: RunningJob, x: int = 0, items: list[dict[str, str]] | None = None) -> None:
        if x == 7:
            app.enqueue("bad", {"name": "child"})

    @app.job("bad")
    def bad(job: RunningJob, name: str = "a") -> None:
        raise Fail(f"no {name!r} at 17")

    yield app
    app.close()


def found(app: Tenure, text: str) -> list[str]:
    page = app.insight.page(search(text))
    assert page.complete and page.next is None
    return sorted(job.id for job in page.rows)


def test_each_word_finds_what_it_says(app: Tenure) -> None:
    mum = app.enqueue("ok", {"x": 7, "items": [{"sku": "A1"}]}, key="order-3").id
    big = app.enqueue("bad", {"name": LONG}, tenant="acme", ordering_key="o1").id
    other = app.enqueue("bad", {"name": 'ü"%_'}, tenant="beta", owner="ada").id
    Worker(app).run_until_idle()
    child = found(app, f"parent:{mum}")

    assert len(child) == 1
    assert found(app, "kind:bad") == sorted([big, other, *child])
    assert found(app, "kind:ok kind:bad queue:q1") == [mum]
    assert found(app, "key:order-3") == found(app, "order-3") == found(app, "id:" + mum) == [mum]
    assert found(app, "key:o1 state:bad") == [big]
    assert found(app, "payload.x:7") == found(app, "payload.items.0.sku:A1") == [mum]
    assert found(app, f"payload.name:{LONG}") == [big]
    assert found(app, 'payload.name:"ü\\"%_"') == found(app, "tenant:beta") == [other]
    assert found(app, "user:ada state:failed") == [other]
    assert found(app, 'error:"NO \'CHILD"') == child
    assert found(app, "error:%_") == [other], "a pattern's signs are plain characters"
    assert (
        found(app, "payload.x:8") == found(app, "error:nothing") == found(app, "state:open") == []
    )


def test_the_jobs_in_the_hands_of_a_worker_are_found_and_counted(app: Tenure) -> None:
    mine, other = app.enqueue("ok", {"x": 1}).id, app.enqueue("ok", {"x": 2}).id
    app.enqueue("ok", {"x": 3})
    for job_id, worker in ((mine, "host:1:a"), (other, "host:1:b")):
        slots = {"q1": 1}
        request = ClaimRequest(owner=worker, kinds={"ok"}, slots=slots, lease_seconds=60)
        assert [job.id for job in app.store.jobs.claim(request).jobs] == [job_id]

    assert found(app, "worker:host:1:a") == found(app, "worker:host:1:a state:running") == [mine]
    assert found(app, "worker:host:1:c") == found(app, "worker:host:1:a state:succeeded") == []
    where = search("worker:host:1:b")
    assert sum(app.insight.counts(where).values()) == 1
    tally = app.store.jobs.tally(where)
    assert tally.states[State.RUNNING] == Count(1, Precision.EXACT)


def test_a_group_holds_the_jobs_whose_last_run_failed_like_this(app: Tenure) -> None:
    ids = [app.enqueue("bad", {"name": name}, tenant="acme").id for name in ("a", "b")]
    Worker(app).run_until_idle()
    [group] = app.charts.errors(since=app.store.now().replace(year=2000)).rows
    name = shown(group.group.group)

    assert found(app, f"group:{name}") == sorted(ids)
    assert (group.group.failures, group.group.message) == (2, "no <…> at <n>")
    assert sum(group.hours) == 2
    app.cancel(ids[0])
    assert found(app, f"group:{name}") == [ids[1]], "an operator's move ends the failure"
    assert app.operator.replay(search(f"group:{name}")).changed == 1
    assert found(app, "group:0000000000000000") == []


def test_lists_get_the_last_failures_at_once(app: Tenure) -> None:
    bad, good = app.enqueue("bad", {}).id, app.enqueue("ok", {}).id
    Worker(app).run_until_idle()

    errors = app.store.jobs.last_errors([bad, good, "nothing"])

    assert errors.keys() == {bad}
    assert (errors[bad].type, errors[bad].message) == ("Fail", "no 'a' at 17")


def test_a_search_without_an_index_is_bounded_and_goes_on(
    app: Tenure, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walk, "MOST_WALKED", 4)
    monkeypatch.setattr(walk, "FIRST_STEP", 2)
    monkeypatch.setattr(walk, "STEP", 2)
    monkeypatch.setattr(walk, "MOST_SECONDS", 60)
    wanted = app.enqueue("ok", {"x": 1}, key="rare").id
    for _ in range(9):
        app.enqueue("bad", {})

    pages = [app.insight.page(search("key:rare"))]
    while pages[-1].next is not None:
        pages.append(app.insight.page(search("key:rare"), after=pages[-1].next))

    assert [page.complete for page in pages] == [False, False, True]
    assert [page.searched for page in pages] == [4, 4, 2]
    assert [job.id for page in pages for job in page.rows] == [wanted]
    tally = app.store.jobs.tally(
        JobFilter(kinds=("bad",), created_after=app.store.now().replace(year=2000))
    )
    assert (tally.searched, tally.complete) == (4, False)
    assert [(count.jobs, count.precision) for count in tally.states.values()] == [
        (4, Precision.AT_LEAST)
    ]


def test_a_large_table_is_estimated_and_says_so(
    app: Tenure, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        app.enqueue("ok" if number % 2 else "bad", {})
    Worker(app).run_until_idle()
    for _ in range(3):
        app.enqueue("ok", {})
    exact = app.store.jobs.tally(JobFilter()).states
    monkeypatch.setattr(counts, "SMALL", 2)
    monkeypatch.setattr(counts, "COUNTED_AT_MOST", 3)

    rough = app.store.jobs.tally(JobFilter()).states

    assert {state: count.jobs for state, count in exact.items()} == {
        "succeeded": 3, "failed": 3, "queued": 3,
    }  # fmt: skip
    for state in (State.QUEUED, State.FAILED):
        assert rough[state] == Count(3, Precision.AT_LEAST)
    assert rough[State.SUCCEEDED].precision is Precision.APPROXIMATE


def test_open_jobs_of_a_filter_are_counted_from_their_indexes(app: Tenure) -> None:
    app.enqueue("ok", {}, tenant="acme")
    app.enqueue("ok", {}, tenant="acme", delay=60)
    app.enqueue("bad", {})

    assert app.insight.counts(search("state:open tenant:acme")) == {"queued": 2}
    tally = app.store.jobs.tally(search("state:open kind:bad"))
    assert {state: count.jobs for state, count in tally.states.items()} == {
        "queued": 1, "running": 0,
    }  # fmt: skip


def test_a_family_is_parent_children_links_and_steps(app: Tenure) -> None:
    mum = app.enqueue("ok", {"x": 7})
    after = app.enqueue("ok", {}, after=[mum.id])
    waiting = app.store.jobs.relatives(app.get(after.id))
    first = app.store.jobs.relatives(app.get(mum.id))
    Worker(app).run_until_idle()

    family = app.store.jobs.relatives(app.get(mum.id))
    [child] = family.children

    assert [job.id for job in waiting.waits_for] == [mum.id]
    assert [job.id for job in first.dependents] == [after.id]
    assert child.kind == "bad"
    parent = app.store.jobs.relatives(child).parent
    assert parent is not None and parent.id == mum.id
