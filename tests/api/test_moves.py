"""Moves over many jobs: previewed, begun, followed, stopped."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from tenure import Delays, RunningJob, State, Tenure
from tenure.access.scoped_jobs import ScopedJobs
from tenure.api import bulk_moves as operations
from tenure.api.bulk_moves import COLLECTION, Operation, Operations, OperationState
from tenure.api.kept_operations import Overtaken
from tenure.api.stored_filter import filter_data, filter_of
from tenure.core.filter import JobFilter, PayloadPath
from tenure.core.scope import EVERYTHING, Scope
from tenure.operations.operator import Watcher
from tenure.stores.contract import Change, Changed
from tenure.stores.contract import Move as StoreMove
from tenure.testing import run_until_idle
from tests.api.conftest import Serve, Served
from tests.api.test_bad_input import check_problem
from tests.support.until import until


@pytest.fixture
def engine(engine: Tenure) -> Tenure:
    @engine.job("boom", retry=Delays())
    def boom(job: RunningJob) -> None:
        raise ValueError("no luck")

    return engine


def bury(served: Served, count: int, **more: Any) -> None:
    served.engine.enqueue_many([served.engine.new("boom", **more) for _ in range(count)])
    run_until_idle(served.engine)


def test_a_preview_counts_and_changes_nothing(served: Served) -> None:
    bury(served, 3)
    body = served.post("/api/jobs/replay", {"kind": ["boom"], "dryRun": True}).json()

    assert (body["state"], body["total"], body["operationId"]) == ("preview", 3, None)
    assert served.engine.insight.counts() == {State.DEAD: 3}


def test_a_small_replay_is_over_when_it_answers(served: Served) -> None:
    bury(served, 3)
    answer = served.post("/api/jobs/replay", {"kind": ["boom"]})

    assert answer.status_code == 200
    assert answer.json() | {"startedAt": "", "operationId": ""} == {
        "operationId": "", "action": "replay", "state": "done", "total": 3, "matched": 3,
        "changed": 3, "refused": 0, "refusedIds": [], "startedAt": "", "error": None,
    }  # fmt: skip
    assert served.engine.insight.counts() == {State.QUEUED: 3}
    assert served.get(answer.headers["location"]).json() == answer.json()


def test_a_long_one_goes_on_and_is_followed(served: Served) -> None:
    bury(served, 600)
    go_on, hold = threading.Event(), served.engine.store.jobs.change

    def change(*args: Any) -> Changed:
        done = hold(*args)
        assert go_on.wait(20)
        return done

    served.engine.store.jobs.change = change  # type: ignore[method-assign, assignment]
    begun = served.post("/api/jobs/replay", {"state": ["dead"]})
    assert begun.status_code == 202
    assert begun.json()["state"] == "running"
    go_on.set()

    where = begun.headers["location"]
    done = until(lambda: served.get(where).json()["state"] == "done" and served.get(where).json())
    assert (done["total"], done["matched"], done["changed"]) == (600, 600, 600)


def test_one_that_waits_for_its_turn_is_not_lost(
    engine: Tenure, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two run, and tell of the third; when all is stopped, so is that."""
    for name in ("TOLD_EVERY", "WAITING_TOLD_EVERY"):
        monkeypatch.setattr(operations, name, 0.0)
    known, go_on = Operations(engine), threading.Semaphore(0)
    jobs = ScopedJobs(engine, EVERYTHING, "tester")

    def move(watch: Watcher) -> Changed:
        while go_on.acquire(timeout=20):
            watch(Changed(matched=1, changed=1))
        raise AssertionError("nobody went on")

    begun = [known.begin(jobs, "cancel", 9, move)[0] for _ in range(3)]
    third = str(begun[2].id)

    def told_at() -> Any:
        return engine.store.records.find(COLLECTION, third).updated_at  # type: ignore[union-attr]

    def told_again() -> bool:
        go_on.release()
        return bool(told_at() > first)

    first = until(told_at)
    until(told_again)
    assert known.get(third, EVERYTHING).matched == 0
    known._stopping.set()
    go_on.release(10)
    known.close()
    assert {known.get(str(one.id), EVERYTHING).state for one in begun} == {OperationState.STOPPED}


def test_waiting_jobs_are_cancelled_by_filter(served: Served) -> None:
    served.engine.enqueue_many([served.engine.new("boom", queue="slow") for _ in range(3)])
    served.engine.enqueue("boom")

    assert served.post("/api/jobs/cancel", {"queue": ["slow"]}).json()["changed"] == 3
    assert served.engine.insight.counts() == {State.CANCELED: 3, State.QUEUED: 1}


def test_nothing_is_moved_without_a_filter_or_outside_the_scope(served: Served) -> None:
    bury(served, 2, tenant="acme")
    globex = served.key("write", tenant="globex")

    check_problem(served.post("/api/jobs/replay", {}), 422, "filter-required")
    check_problem(served.post("/api/jobs/cancel", {"dryRun": True}), 422, "filter-required")
    check_problem(served.post("/api/jobs/replay", {"state": ["queued"]}), 422, "bad-option")
    theirs = served.post("/api/jobs/replay", {"kind": ["boom"]}, headers=globex)
    assert theirs.json()["changed"] == 0
    assert served.engine.insight.counts() == {State.DEAD: 2}


def test_whether_it_is_a_preview_is_not_guessed(served: Served) -> None:
    answer = served.post("/api/jobs/cancel", {"kind": ["boom"], "dryRun": "no"})

    check_problem(answer, 422, "invalid-request")


@pytest.mark.parametrize("none", [{"kind": []}, {"queue": []}, {"state": []}, {"jobIds": []}])
def test_a_list_of_nothing_does_not_mean_everything(
    served: Served, none: dict[str, object]
) -> None:
    answer = served.post("/api/jobs/cancel", {"tenant": "", **none})

    check_problem(answer, 422, "invalid-request")


def test_an_operation_is_seen_by_those_whose_it_is(served: Served) -> None:
    bury(served, 1, tenant="acme")
    acme = served.key("write", tenant="acme")
    where = served.post("/api/jobs/replay", {"kind": ["boom"]}, headers=acme).headers["location"]

    assert served.get(where, headers=acme).status_code == 200
    assert served.get(where).status_code == 200
    one_user = served.key("read", tenant="acme", owner="ada")
    for other in (served.key("read", tenant="globex"), one_user):
        check_problem(served.get(where, headers=other), 404, "operation-not-found")
    check_problem(served.get("/api/operations/none"), 404, "operation-not-found")


def test_one_whose_process_went_silent_is_lost(served: Served) -> None:
    operations = served.api.state.service.operations
    where = served.post("/api/jobs/cancel", {"kind": ["none"]}).headers["location"]
    name = where.rpartition("/")[2]
    record = operations._kept._records.find(name)
    data = {**record.data, "state": OperationState.RUNNING}
    served.engine.store.records.upsert(replace(record, data=data))

    assert served.get(where).json()["state"] == "running"
    operations._kept._silent = lambda told_at: True
    assert served.get(where).json()["state"] == "lost"


def test_shutdown_stops_between_chunks(serve: Serve, engine: Tenure) -> None:
    served = serve()
    bury(served, 600)
    held, stopping = threading.Event(), served.api.state.service.operations._stopping
    change = engine.store.jobs.change

    def slow(*args: Any) -> Changed:
        done = change(*args)
        held.set()
        assert stopping.wait(20)
        return done

    engine.store.jobs.change = slow  # type: ignore[method-assign, assignment]
    begun = served.post("/api/jobs/replay", {"state": ["dead"]})
    assert held.wait(20)
    served.api.state.service.operations.close()

    told = served.get(begun.headers["location"]).json()
    assert (told["state"], told["changed"]) == ("stopped", 500)


def interrupted(engine: Tenure, where: JobFilter) -> Operations:
    """A replay that is stopped by a shutdown after its first chunk."""
    known, jobs = Operations(engine), ScopedJobs(engine, Scope("acme"), "tester")
    held = threading.Event()

    def move(watch: Watcher) -> Changed:
        def hear(total: Changed) -> None:
            held.set()
            assert known._stopping.wait(20)
            watch(total)

        return jobs.replay(where, watch=hear)

    known.begin(jobs, "replay", 1_200, move, where)
    assert held.wait(20)
    known.close()
    return known


def ended(known: Operations, state: OperationState = OperationState.DONE) -> Operation:
    def look() -> Operation | None:
        [one] = known.recent(EVERYTHING)
        return one if one.state is state else None

    found = until(look)
    assert found is not None
    return found


@pytest.fixture
def buried(database_url: str) -> Iterator[Tenure]:
    """1,200 dead jobs of a tenant, and 3 of another, on each kind of database."""
    engine = Tenure(database_url)
    engine.enqueue_many([engine.new("boom", tenant="acme") for _ in range(1_200)])
    engine.enqueue_many([engine.new("boom", tenant="globex") for _ in range(3)])
    engine.operator.move_all(JobFilter(kinds=("boom",)), Change(move=StoreMove.CANCEL))
    yield engine
    engine.close()


WHERE = JobFilter(kinds=("boom",), states=(State.CANCELED,))


def test_another_process_goes_on_with_what_a_shutdown_interrupted(buried: Tenure) -> None:
    first = interrupted(buried, WHERE)
    [left] = first.recent(EVERYTHING)
    assert (left.state, left.interrupted, left.changed) == (OperationState.STOPPED, True, 500)

    second, third = Operations(buried), Operations(buried)
    assert (second.adopt(), third.adopt()) == (1, 0)
    done = ended(second)
    assert (done.matched, done.changed, done.actor) == (1_200, 1_200, "tester")
    assert buried.insight.counts() == {State.QUEUED: 1_200, State.CANCELED: 3}
    second.close()


def test_one_whose_process_was_killed_is_taken_over_and_not_given_back(buried: Tenure) -> None:
    first = interrupted(buried, WHERE)
    [left] = first.recent(EVERYTHING)
    record = first._kept._records.find(str(left.id))
    assert record is not None
    data = {**record.data, "state": OperationState.RUNNING, "interrupted": False}
    buried.store.records.upsert(replace(record, data=data))
    second = Operations(buried)
    assert second.adopt() == 0  # it was heard of a moment ago

    second._kept._silent = lambda told_at: True  # type: ignore[method-assign]
    assert second.adopt() == 1
    with pytest.raises(Overtaken):
        first._kept.tell(left)
    assert ended(second).changed == 1_200
    second.close()


def test_an_interrupted_one_can_be_stopped_for_good(buried: Tenure) -> None:
    known = interrupted(buried, WHERE)
    [left] = known.recent(EVERYTHING)

    assert known.stop(str(left.id), EVERYTHING).state is OperationState.STOPPED
    assert Operations(buried).adopt() == 0


def test_a_running_one_is_listed_and_stopped(served: Served) -> None:
    bury(served, 1_200)
    first, go_on, change = threading.Event(), threading.Event(), served.engine.store.jobs.change

    def slow(*args: Any) -> Changed:
        done = change(*args)
        first.set()
        assert go_on.wait(20)
        return done

    served.engine.store.jobs.change = slow  # type: ignore[method-assign, assignment]
    begun = served.post("/api/jobs/replay", {"state": ["dead"]})
    assert first.wait(20)
    [listed] = served.get("/api/operations").json()["items"]
    assert (listed["state"], listed["filter"]) == ("running", "states=dead")
    where = begun.headers["location"]
    reader, globex = served.key("read"), served.key("write", tenant="globex")
    check_problem(served.post(f"{where}/stop", headers=reader), 403, "forbidden")
    check_problem(served.post(f"{where}/stop", headers=globex), 404, "operation-not-found")
    assert served.get("/api/operations", headers=globex).json() == {"items": []}
    assert served.post(f"{where}/stop").json()["state"] == "running"
    go_on.set()

    until(lambda: served.get(where).json()["state"] == "stopped")
    told = served.get(where).json()
    assert told["changed"] in (500, 1_000)
    assert served.api.state.service.operations.adopt() == 0
    assert served.post(f"{where}/stop").json() == told


def test_a_filter_is_stored_whole() -> None:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    where = JobFilter(
        ids=("1",), states=(State.DEAD,), created_after=moment, finished_before=moment,
        payload=(PayloadPath("a.b", "1"),), tenant="", parent="7",
    )  # fmt: skip

    assert filter_of(json.loads(json.dumps(filter_data(where)))) == where
    with pytest.raises(TypeError):
        filter_of({"colour": "red"})
