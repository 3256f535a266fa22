"""Jobs over HTTP: added, read, listed, moved."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tenure import Delays, Fail, RunningJob, State, Tenure, Worker
from tenure.testing import run_until_idle
from tests.api.conftest import Served
from tests.api.test_bad_input import check_problem
from tests.support.lines import talkative


@pytest.fixture
def engine(engine: Tenure) -> Tenure:
    @engine.job("add")
    def add(job: RunningJob, a: int, b: int = 2) -> int:
        job.log("adding")
        if a < 0:
            raise Fail("too little")
        return a + b

    return engine


def add(served: Served, **more: Any) -> str:
    answer = served.post("/api/jobs", {"kind": "add", "payload": {"a": 1}, **more})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["jobId"])


def test_a_job_is_added_with_all_that_can_be_said(served: Served) -> None:
    said = {
        "kind": "add", "payload": {"a": 1}, "key": "one", "keyMode": "keep",
        "queue": "slow", "priority": 0, "tenant": "acme", "userId": "ada",
        "runAt": "2030-01-01T00:00:00Z", "expiresAt": "2031-01-01T00:00:00+02:00",
        "maxAttempts": 3, "orderingKey": "inv:1", "orderingFailure": "skip",
    }  # fmt: skip
    answer = served.post("/api/jobs", said, headers={"x-correlation-id": "order-42"})

    assert answer.status_code == 201
    job = served.engine.get(answer.json()["jobId"])
    assert answer.json() == {"jobId": job.id, "created": True}
    assert answer.headers["location"] == f"/api/jobs/{job.id}"
    assert (job.kind, job.payload, job.queue, job.priority) == ("add", {"a": 1}, "slow", 0)
    assert (job.tenant, job.owner, job.key) == ("acme", "ada", "one")
    assert (job.max_attempts, job.ordering_key) == (3, "inv:1")
    assert job.run_at.isoformat() == "2030-01-01T00:00:00+00:00"
    assert job.correlation_id == "order-42"
    assert (job.enqueued_by or "").startswith("key:test:")


def test_a_warning_tells_where_no_live_worker_takes_the_job(served: Served) -> None:
    def warned(**job: Any) -> str | None:
        answer = served.post("/api/jobs", job)
        assert answer.status_code == 201, answer.text
        warning: str | None = answer.json().get("warning")
        return warning

    elsewhere = Tenure(served.engine.url)
    elsewhere.job("hang", queue="long")(lambda job: None)
    with Worker(elsewhere):
        assert warned(kind="hang") is None
        assert "knows the kind 'hnag'" in (warned(kind="hnag") or "")
        assert "from the queue 'pdf'" in (warned(kind="hang", queue="pdf") or "")
    elsewhere.close()
    assert warned(kind="add", payload={"a": 1}) is None  # this process knows it


def test_a_job_by_name_is_placed_as_its_workers_say(served: Served) -> None:
    elsewhere = Tenure(served.engine.url)
    elsewhere.job("hang", queue="long", priority=7, retry=Delays(0))(lambda job: None)
    with Worker(elsewhere, queues={"other": 1}):
        answer = served.post("/api/jobs", {"kind": "hang"})
    elsewhere.close()

    job = served.engine.get(answer.json()["jobId"])
    assert (job.queue, job.priority, job.max_attempts) == ("long", 7, 2)


@pytest.mark.parametrize("payload", [{"a": "one"}, {}, {"a": 1, "c": 2}, [1], None])
def test_arguments_are_judged_where_the_handler_is_known(served: Served, payload: Any) -> None:
    answer = served.post("/api/jobs", {"kind": "add", "payload": payload})

    check_problem(answer, 422, "bad-arguments")
    assert served.post("/api/jobs", {"kind": "other", "payload": payload}).status_code == 201


def test_a_key_that_names_a_job_already(served: Served) -> None:
    first = add(served, key="one")
    second = served.post("/api/jobs", {"kind": "add", "payload": {"a": 1}, "key": "one"})
    other = served.post("/api/jobs", {"kind": "add", "payload": {"a": 9}, "key": "one"})

    assert (second.status_code, second.json()) == (200, {"jobId": first, "created": False})
    assert check_problem(other, 409, "key-conflict")["jobId"] == first


def test_a_job_is_read_with_everything(served: Served) -> None:
    job_id = add(served)
    waiting = served.get(f"/api/jobs/{job_id}").json()
    run_until_idle(served.engine)
    done = served.get(f"/api/jobs/{job_id}").json()

    assert waiting["state"] == "queued"
    assert waiting["payload"] == {"a": 1}
    assert waiting["why"]["code"] == "no_worker"
    assert (done["state"], done["result"], done["why"]["code"]) == ("succeeded", 3, "ended")
    assert done["finishedAt"].endswith("Z")


def test_a_failed_job_says_why(served: Served) -> None:
    job_id = add(served, payload={"a": -1})
    run_until_idle(served.engine)

    job = served.get(f"/api/jobs/{job_id}").json()
    history = served.get(f"/api/jobs/{job_id}/history").json()["items"]
    lines = served.get(f"/api/jobs/{job_id}/logs").json()["items"]

    assert job["state"] == "failed"
    assert job["lastError"]["message"] == "too little"
    assert [one["entry"] for one in history] == ["failed"]
    assert history[0]["error"]["type"] == "Fail"
    assert [(one["level"], one["message"]) for one in lines] == [("info", "adding")]


def test_every_line_of_a_talkative_job_can_be_read(served: Served) -> None:
    """However many there are: an answer holds at most 5,000."""
    job_id = talkative(served.engine, 5_003)
    path = f"/api/jobs/{job_id}/logs"

    first = served.get(path, params={"limit": 5000}).json()
    second = served.get(path, params={"limit": 5000, "after": first["next"]}).json()

    found = [one["message"] for one in (*first["items"], *second["items"])]
    assert found == [f"line {number}" for number in range(5_003)]
    assert second["next"] is None
    other = served.engine.enqueue("talk").id
    wrong = served.get(f"/api/jobs/{other}/logs", params={"after": first["next"]})
    check_problem(wrong, 400, "invalid-cursor")


def test_a_client_that_has_it_gets_304_until_it_changes(served: Served) -> None:
    job_id = add(served)
    tag = served.get(f"/api/jobs/{job_id}").headers["etag"]

    def ask(given: str) -> httpx.Response:
        return served.get(f"/api/jobs/{job_id}", headers={"if-none-match": given})

    def status(given: str) -> int:
        return ask(given).status_code

    assert [status(tag), status(f'"x", {tag}'), status("*"), status('"x"')] == [304, 304, 304, 200]
    for name in ("etag", "cache-control"):  # as they are with the whole answer
        assert ask(tag).headers[name] == ask('"x"').headers[name]
    served.post(f"/api/jobs/{job_id}/cancel")
    assert status(tag) == 200


def test_moves(served: Served) -> None:
    job_id = add(served)

    assert served.post(f"/api/jobs/{job_id}/reprioritise", {"priority": 0}).json()["priority"] == 0
    assert served.post(f"/api/jobs/{job_id}/cancel").json()["state"] == "canceled"
    again = served.post(f"/api/jobs/{job_id}/cancel")
    assert check_problem(again, 409, "move-refused")["jobId"] == job_id
    assert served.post(f"/api/jobs/{job_id}/retry").json()["state"] == "queued"
    [*_, last] = served.get(f"/api/jobs/{job_id}/history").json()["items"]
    assert last["worker"].startswith("key:test:")


def test_the_error_of_a_first_run_is_shown_while_the_job_waits_for_its_retry(
    served: Served,
) -> None:
    @served.engine.job("flaky", retry=Delays(3_600))
    def flaky(job: RunningJob) -> None:
        raise ConnectionError("hung up")

    job_id = add(served, kind="flaky", payload={})
    assert served.get(f"/api/jobs/{job_id}").json()["lastError"] is None
    run_until_idle(served.engine)

    job = served.get(f"/api/jobs/{job_id}").json()
    assert (job["state"], job["fence"], job["attempt"]) == ("queued", 1, 1)
    assert job["lastError"]["message"] == "hung up"


@pytest.mark.parametrize("job_id", ["999", "abc", "a-1:b", "0", "9" * 30, "x" * 65, "%00", "%20"])
def test_what_is_not_there_is_not_found(served: Served, job_id: str) -> None:
    check_problem(served.get(f"/api/jobs/{job_id}"), 404, "job-not-found")
    check_problem(served.get(f"/api/jobs/{job_id}/history"), 404, "job-not-found")
    check_problem(served.post(f"/api/jobs/{job_id}/cancel"), 404, "job-not-found")


def test_an_id_is_opaque_in_bodies_and_filters_too(served: Served) -> None:
    listed = served.get("/api/jobs", params={"batchId": "b-7"}).json()
    after = served.post("/api/jobs", {"kind": "elsewhere", "after": ["a0B-1"]})
    slash = served.post("/api/jobs", {"kind": "elsewhere", "after": ["a/b"]})
    moved = served.post("/api/jobs/cancel", {"jobIds": ["a0B-1"], "dryRun": True})

    assert listed["items"] == []
    assert check_problem(after, 404, "job-not-found")["jobId"] == "a0B-1"
    check_problem(slash, 422, "invalid-request")
    assert moved.json()["total"] == 0


def test_pages_follow_each_other(served: Served) -> None:
    ids = [add(served, tenant="acme" if n % 2 else "globex") for n in range(5)]

    first = served.get("/api/jobs?pageSize=2")
    second = served.get(first.links["next"]["url"])
    third = served.get("/api/jobs", params={"pageSize": 2, "after": second.json()["next"]})

    shown = [one["jobId"] for page in (first, second, third) for one in page.json()["items"]]
    assert shown == list(reversed(ids))
    assert third.json()["next"] is None
    assert "link" not in third.headers
    assert "payload" not in first.json()["items"][0]


def test_a_filter_is_made_of_all_its_parts(served: Served) -> None:
    add(served, tenant="acme", queue="slow")
    wanted = add(served, tenant="acme", userId="ada", queue="slow", key="k")
    query = "state=queued&state=running&kind=add&queue=slow&tenant=acme&userId=ada&key=k"
    times = "createdAfter=2020-01-01T00:00:00Z&createdBefore=2100-01-01T00:00:00Z"

    found = served.get(f"/api/jobs?{query}&{times}").json()["items"]

    assert [one["jobId"] for one in found] == [wanted]
    assert served.get(f"/api/jobs?{query}&state=dead&batchId=1").json()["items"] == []


def test_dead_letters_are_the_failed_and_the_dead(served: Served) -> None:
    add(served)
    failed = add(served, payload={"a": -1})
    run_until_idle(served.engine)

    assert [one["jobId"] for one in served.get("/api/dead-letters").json()["items"]] == [failed]
    assert served.get("/api/dead-letters?state=dead").json()["items"] == []
    check_problem(served.get("/api/dead-letters?state=queued"), 422, "bad-option")


def test_me_is_resolved_here_and_all_needs_an_admin(served: Served) -> None:
    mine, theirs = add(served, userId="ada"), add(served, userId="bob")
    ada = served.key("write", tenant="", owner="ada")

    def ids(user: str, headers: dict[str, str]) -> Any:
        answer = served.get(f"/api/jobs?userId={user}", headers=headers)
        body = answer.json()
        return [one["jobId"] for one in body["items"]] if answer.is_success else body["code"]

    assert ids("me", ada) == [mine]
    assert ids("all", ada) == "forbidden"
    assert ids("bob", ada) == "forbidden"
    assert ids("all", {}) == [theirs, mine]
    check_problem(served.get(f"/api/jobs/{theirs}", headers=ada), 404, "job-not-found")


def test_me_is_resolved_for_a_new_job_too(served: Served) -> None:
    ada = served.key("write", tenant="", owner="ada")

    def post(user: str, **more: Any) -> httpx.Response:
        return served.post("/api/jobs", {"kind": "other", "userId": user}, **more)

    job_id = post("me", headers=ada).json()["jobId"]
    assert served.get(f"/api/jobs/{job_id}").json()["userId"] == "ada"
    check_problem(post("me"), 403, "forbidden")
    check_problem(post("all"), 422, "bad-option")
    check_problem(post("bob", headers=ada), 403, "forbidden")


def test_nobody_and_somebody_who_may_not(served: Served) -> None:
    job_id = add(served)
    reader = served.key("read")

    nobody = served.get(f"/api/jobs/{job_id}", headers={"authorization": ""})
    check_problem(nobody, 401, "unauthenticated")
    assert nobody.headers["www-authenticate"].startswith("Bearer")
    check_problem(served.post(f"/api/jobs/{job_id}/cancel", headers=reader), 403, "forbidden")
    assert served.engine.get(job_id).state is State.QUEUED
