"""Queues, schedules, workers, locks, and the worker of this process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from tenure import State, Tenure, Worker
from tenure.features.schedules import Schedules
from tenure.worker.settling import heartbeat
from tests.api.conftest import Serve, Served, add_report
from tests.api.test_bad_input import check_problem
from tests.support.until import until


@pytest.fixture
def engine(engine: Tenure) -> Tenure:
    add_report(engine)
    return engine


def test_queues_are_listed_paused_and_resumed(served: Served) -> None:
    served.engine.enqueue("report", queue="slow")
    assert served.post("/api/queues/slow/pause").json() == {"name": "slow", "paused": True}

    [queue] = served.get("/api/queues").json()["items"]
    assert queue["oldestRunAt"].endswith("Z")
    assert (queue["name"], queue["queued"], queue["running"]) == ("slow", 1, 0)
    assert queue["paused"]
    assert served.get("/api/jobs/1").json()["why"]["code"] == "paused"
    assert served.post("/api/queues/slow/resume").json()["paused"] is False
    check_problem(served.post("/api/queues/%20/pause"), 422, "bad-option")
    [*_, line] = served.engine.operator.audit.page().rows
    assert (line.actor, line.action) == ("test", "key.created")


def test_a_pause_has_a_reason_and_declared_queues_are_listed(served: Served) -> None:
    served.engine.queue("pdf", slots=2)
    served.engine.queues.set("mail", fair=False)
    path = "/api/queues/slow/pause"
    assert served.post(path, {"reason": "disk is full"}).json()["paused"]

    found = {one["name"]: one["pausedReason"] for one in served.get("/api/queues").json()["items"]}
    assert found == {"mail": None, "pdf": None, "slow": "disk is full"}
    [line] = served.get("/api/audit?action=queue.paused").json()["items"]
    assert line["facts"] == {"reason": "disk is full"}
    served.post("/api/queues/slow/resume")
    assert served.engine.store.records.find("pause_reasons", "slow") is None
    for bad in ({"reason": ""}, {"reason": 1}, {"because": "x"}):
        check_problem(served.post(path, bad), 422, "invalid-request")
    check_problem(served.post(path, {"reason": "a\nb"}), 422, "bad-option")


def test_a_queue_with_a_slash_in_its_name_is_paused_too(served: Served) -> None:
    served.engine.enqueue("report", queue="pdf/large")

    paused = served.post("/api/queues/pdf%2Flarge/pause")
    assert paused.json() == {"name": "pdf/large", "paused": True}
    assert served.get("/api/queues").json()["items"][0]["paused"]
    assert served.post("/api/queues/pdf%2Flarge/resume").json()["paused"] is False
    check_problem(served.get("/api/queues/pdf%2Flarge/pause"), 405, "method-not-allowed")


def test_what_belongs_to_no_tenant_is_not_for_one_tenants_key(served: Served) -> None:
    acme, reader = served.key("admin", tenant="acme"), served.key("read")
    for path in ("queues", "workers", "locks", "schedules"):
        check_problem(served.get(f"/api/{path}", headers=acme), 403, "forbidden")
        assert served.get(f"/api/{path}", headers=reader).json() == {"items": []}
    check_problem(served.post("/api/queues/q/pause", headers=reader), 403, "forbidden")
    check_problem(served.post("/worker/start", headers=acme), 403, "forbidden")


def test_schedules_are_seen_paused_edited_and_run(served: Served) -> None:
    Schedules.of(served.engine).synchronise()
    [listed] = served.get("/api/schedules").json()["items"]
    assert (listed["name"], listed["every"], listed["kind"]) == ("hourly", 3_600, "report")
    path = "/api/schedules/hourly"
    times = [datetime.fromisoformat(one) for one in listed["next"]]
    assert (len(times), listed["next"][0]) == (5, listed["nextAt"])
    assert {after - before for before, after in pairwise(times)} == {timedelta(hours=1)}

    assert served.post(f"{path}/pause").json()["pausedBy"].startswith("key:test:")
    paused = served.get(path).json()
    assert (paused["nextAt"], paused["next"]) == (None, [])
    assert served.post(f"{path}/resume").json()["paused"] is False
    change = {"cron": "30 2 * * *", "zone": "Europe/Berlin", "catchUp": "all", "limit": 3}
    edited = served.client.patch(path, json=change).json()
    assert (edited["cron"], edited["every"], edited["catchUp"]) == ("30 2 * * *", None, "all")
    assert edited["edited"] == ["catchUp", "cron", "every", "limit", "zone"]
    assert served.post(f"{path}/reset").json()["every"] == 3_600
    run = served.post(f"{path}/run")
    assert (run.status_code, run.json()) == (201, {"jobId": "1", "created": True})
    assert served.get(path).json()["lastRuns"] == []


def test_what_a_schedule_cannot_be_is_refused(served: Served) -> None:
    Schedules.of(served.engine).synchronise()
    path = "/api/schedules/hourly"
    patch = served.client.patch
    check_problem(patch(path, json={}), 422, "bad-option")
    check_problem(patch(path, json={"cron": "soon"}), 422, "bad-option")
    check_problem(patch(path, json={"cron": "@daily", "every": 5}), 422, "bad-option")
    check_problem(patch(path, json={"cron": "@daily", "zone": "Mars"}), 422, "bad-option")
    check_problem(patch(path, json={"colour": "red"}), 422, "invalid-request")
    check_problem(patch(path, json={"payload": {"days": "many"}}), 422, "bad-arguments")
    check_problem(patch("/api/schedules/none", json={"every": 5}), 404, "schedule-not-found")
    check_problem(served.get("/api/schedules/none"), 404, "schedule-not-found")
    check_problem(served.post("/api/schedules/none/run"), 404, "schedule-not-found")


def test_workers_and_locks_are_listed(served: Served) -> None:
    served.engine.store.locks.acquire("billing", "me", 60)
    with Worker(served.engine) as worker:
        [one] = served.get("/api/workers").json()["items"]
        locks = served.get("/api/locks").json()["items"]

    assert (one["workerId"], one["pid"], one["kinds"]) == (worker.id, os.getpid(), ["report"])
    assert one["alive"]
    assert one["queues"] == {"default": 10}
    assert {"name": "billing", "owner": "me", "fence": 1} in locks


@pytest.fixture
def working(serve: Serve, engine: Tenure) -> Iterator[Served]:
    yield serve(worker=Worker(engine))


def test_a_given_worker_runs_with_the_api_and_counts(working: Served) -> None:
    engine = working.engine
    done = engine.enqueue("report")
    failed = engine.enqueue("report", {"days": "many"})
    again = engine.enqueue("report", {"days": -1})
    assert engine.wait(done).state is State.SUCCEEDED
    assert engine.wait(failed).state is State.FAILED
    until(lambda: engine.get(again).attempt == 1 and engine.get(again).state is State.QUEUED)

    until(lambda: told(working)["totalRetries"] == 1)
    stats = told(working)

    assert stats["isRunning"]
    assert stats["totalProcessed"] == 2
    assert stats["lastPollTime"].endswith("Z")
    assert (stats["totalSucceeded"], stats["totalFailed"], stats["totalRetries"]) == (1, 1, 1)
    assert stats["uptimeSeconds"] >= 0
    assert stats["correlationId"] == "look"
    status = working.get("/worker/status").json()
    assert set(status) == {"isRunning", "currentQueueDepth", "lastPollTime", "correlationId"}


def told(served: Served) -> dict[str, Any]:
    found: dict[str, Any] = served.get("/worker/stats", headers={"x-correlation-id": "look"}).json()
    return found


def test_a_worker_is_stopped_and_started_and_409_where_it_is_so(working: Served) -> None:
    engine = working.engine
    check_problem(working.post("/worker/start"), 409, "worker-state")
    assert working.post("/worker/stop").json() == {"isRunning": False}
    check_problem(working.post("/worker/stop"), 409, "worker-state")
    assert working.get("/worker/status").json()["isRunning"] is False
    assert engine.insight.workers() == []
    waiting = engine.enqueue("report")

    assert working.post("/worker/start").json() == {"isRunning": True}
    assert engine.wait(waiting).state is State.SUCCEEDED
    actions = [line.action for line in engine.operator.audit.page().rows]
    assert actions[:2] == ["worker.started", "worker.stopped"]


def test_a_process_without_a_worker_says_so(served: Served) -> None:
    assert served.get("/worker/status").json()["isRunning"] is False
    check_problem(served.post("/worker/start"), 409, "worker-state")
    check_problem(served.post("/worker/stop"), 409, "worker-state")


def test_a_tick_by_token(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    check_problem(serve().post("/internal/tick"), 404, "not-found")
    monkeypatch.setenv("WORKER_API_SERVICE_TOKEN", "a-token-of-some-length")
    served = serve(requests_per_minute=1)
    served.engine.enqueue("report")

    for _ in range(2):  # it is not counted among a caller's requests
        check_problem(
            served.post("/internal/tick", headers={"authorization": ""}), 401, "unauthorized"
        )
    check_problem(served.post("/internal/tick", headers={"x-service-token": "x"}), 403, "forbidden")
    done = served.post("/internal/tick", headers={"x-service-token": "a-token-of-some-length"})
    assert (done.status_code, done.json()["processed"]) == (200, 1)


def test_a_caller_over_its_limit_is_told_when_to_come_again(serve: Serve) -> None:
    served = serve(requests_per_minute=2)
    other = served.key("read", tenant="acme")

    assert [served.get("/api/queues").status_code for _ in range(2)] == [200, 200]
    over = served.get("/api/queues")
    check_problem(over, 429, "too-many-requests")
    assert int(over.headers["retry-after"]) in range(1, 31)
    assert over.headers["ratelimit-policy"] == '"caller";q=2;w=60'
    assert over.headers["ratelimit"].startswith('"caller";r=0;t=')
    assert served.get("/api/jobs", headers=other).status_code == 200
    assert served.get("/v1/health/live").status_code == 200


def test_a_worker_is_asked_to_stop_and_ends(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heartbeat, "SIGN_IN_EVERY", 0.0)
    worker = Worker(served.engine)
    with worker:
        [listed] = until(lambda: served.get("/api/workers").json()["items"])
        assert (listed["app"], listed["release"]) == ("", "")
        path = f"/api/workers/{listed['workerId']}/stop"
        check_problem(served.post(path, headers=served.key("read")), 403, "forbidden")
        assert served.post(path).json() == {"workerId": worker.id, "stopping": True}
        until(lambda: served.get("/api/workers").json()["items"] == [])
        assert not worker.stop_request.hurry.is_set()
    assert served.engine.store.records.find("worker_stops", worker.id) is None
    check_problem(served.post(path), 404, "worker-not-found")
    [line] = served.get("/api/audit?action=worker.stop").json()["items"]
    assert line["target"] == worker.id
