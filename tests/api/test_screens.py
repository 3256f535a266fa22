"""What the dashboard reads: searches, counts, charts, error groups, kinds, limits, findings."""

from __future__ import annotations

from typing import Any

import pytest

from tenure import Fail, RunningJob, Tenure
from tenure.stores.contract import ClaimRequest
from tenure.stores.sql.store import sql_store
from tenure.worker import Worker
from tests.api.conftest import Served
from tests.api.test_bad_input import check_problem


@pytest.fixture(autouse=True)
def handlers(engine: Tenure) -> None:
    @engine.job("ok", queue="fast")
    def ok(job: RunningJob, x: int, note: str = "") -> None:
        if x == 7:
            engine.enqueue("bad", {"name": "child"}, tenant=job.tenant)

    @engine.job("bad")
    def bad(job: RunningJob, name: str = "a") -> None:
        raise Fail(f"no {name!r} at 17")


def items(served: Served, path: str, **asked: Any) -> list[dict[str, Any]]:
    answer = served.get(path, params=asked)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


def test_a_search_answers_with_the_short_error(served: Served, engine: Tenure) -> None:
    job = engine.enqueue("bad", {"name": "x" * 900}, key="order-3", tenant="acme")
    engine.enqueue("ok", {"x": 1})
    Worker(engine).run_until_idle()

    answer = served.get("/api/jobs", params={"q": 'order-3 kind:bad error:"no"'}).json()
    [row] = answer["items"]

    assert row["jobId"] == job.id
    assert row["lastError"]["type"] == "Fail" and len(row["lastError"]["message"]) == 300
    assert row["why"] is None
    assert (answer["searched"], answer["complete"], answer["next"]) == (2, True, None)
    same = {"payload": f"name={'x' * 480}", "state": "failed", "error": "NO", "tenant": "acme"}
    assert items(served, "/api/jobs", **same) == []
    assert [one["jobId"] for one in items(served, "/api/jobs", payload="x=1")] != [job.id]


@pytest.mark.parametrize("q", ["color:red", "odd:state", "kind:"])
def test_a_word_that_means_nothing_is_named(served: Served, q: str) -> None:
    answer = served.get("/api/jobs", params={"q": q})

    assert answer.status_code == 422
    assert q.split(":")[0] in answer.json()["detail"]


def test_every_waiting_row_says_why_in_one_answer(served: Served, engine: Tenure) -> None:
    ids = {
        "run_at": engine.enqueue("ok", {"x": 1}, delay=60).id,
        "no_worker": engine.enqueue("ok", {"x": 1}).id,
        "paused": engine.enqueue("bad", {}).id,
    }
    first = engine.enqueue("ok", {"x": 1}, ordering_key="k", delay=60).id
    ids["order"] = engine.enqueue("ok", {"x": 1}, ordering_key="k").id
    ids["after"] = engine.enqueue("ok", {"x": 1}, after=[first]).id
    engine.operator.pause("default")

    rows = {row["jobId"]: row for row in items(served, "/api/jobs", include="why")}

    assert {code: rows[name]["why"]["code"] for code, name in ids.items()} == {c: c for c in ids}
    alone = {name: served.get(f"/api/jobs/{name}").json()["why"]["code"] for name in rows}
    assert alone == {name: row["why"]["code"] for name, row in rows.items()}


def test_why_takes_few_statements_whatever_the_page(served: Served, engine: Tenure) -> None:
    heard: list[str] = []

    def asked(jobs: int) -> int:
        for _ in range(jobs):
            engine.enqueue("ok", {"x": 1})
        served.get("/api/jobs")
        heard.clear()
        sql_store(engine.store).measure(lambda name, _: heard.append(name))
        assert len(items(served, "/api/jobs", include="why", pageSize=100)) >= jobs
        sql_store(engine.store).measure(None)
        return len([name for name in heard if name not in ("CONNECTION", "COMMIT")])

    assert asked(1) + 4 >= asked(60)


def test_states_are_counted(served: Served, engine: Tenure) -> None:
    engine.enqueue("bad", {})
    engine.enqueue("ok", {"x": 1}, delay=60, tenant="acme")
    Worker(engine).run_until_idle()

    whole = served.get("/api/jobs/counts").json()
    acme = served.get("/api/jobs/counts", params={"q": "tenant:acme"}).json()

    assert whole["states"]["failed"] == {"count": 1, "precision": "exact"}
    assert whole["states"]["queued"] == {"count": 1, "precision": "exact"}
    assert len(whole["states"]) == 8 and whole["complete"]
    assert acme["states"]["queued"]["count"] == 1 and acme["states"]["failed"]["count"] == 0


def test_a_family(served: Served, engine: Tenure) -> None:
    mum = engine.enqueue("ok", {"x": 7}).id
    later = engine.enqueue("ok", {"x": 1}, after=[mum]).id
    assert [one["jobId"] for one in served.get(f"/api/jobs/{mum}/family").json()["dependents"]] == [
        later
    ]
    Worker(engine).run_until_idle()

    family = served.get(f"/api/jobs/{mum}/family").json()
    [child] = family["children"]

    assert child["lastError"]["type"] == "Fail"
    assert family["parent"] is None and family["childrenMore"] is False
    assert served.get(f"/api/jobs/{child['jobId']}/family").json()["parent"]["jobId"] == mum
    assert served.get("/api/jobs/999/family").status_code == 404


def test_charts_and_error_groups(served: Served, engine: Tenure) -> None:
    for tenant in ("acme", "beta"):
        engine.enqueue("bad", {"name": tenant}, tenant=tenant)
    engine.enqueue("ok", {"x": 1})
    Worker(engine).run_until_idle()

    chart = served.get("/api/stats", params={"since": "1h", "by": "kind"}).json()
    [group] = items(served, "/api/errors", since="1h")
    [mine] = served.get("/api/errors", headers=served.key(tenant="acme")).json()["items"]

    assert chart["totals"]["settled"]["failed"] == 2
    assert len(chart["points"]) == 61
    assert {one["name"]: one["totals"]["settled"]["failed"] for one in chart["groups"]} == {
        "bad": 2, "ok": 0,
    }  # fmt: skip
    assert chart["totals"]["run"]["p95"] > 0
    assert (group["count"], mine["count"], sum(group["hours"])) == (2, 1, 2)
    assert mine["errorGroup"] == group["errorGroup"]
    preview = served.post("/api/jobs/replay", {**group["filter"], "dryRun": True}).json()
    assert preview["total"] == 2
    assert served.post("/api/jobs/replay", group["filter"]).json()["changed"] == 2
    beta = served.get("/api/errors", params={"tenant": "beta"}, headers=served.key(tenant="acme"))
    assert beta.json()["items"] == []


@pytest.mark.parametrize(
    "asked",
    [{"since": "2h"}, {"step": 7}, {"since": "7d", "step": 60}, {"since": "2000-01-01T00:00:00Z"},
     {"since": "2100-01-01T00:00:00Z"}, {"since": "2026-99-01T00:00:00Z"}],
)  # fmt: skip
def test_a_chart_that_is_not_kept_is_refused(served: Served, asked: dict[str, Any]) -> None:
    assert served.get("/api/stats", params=asked).status_code == 422


def test_site_routes_are_not_for_tenants(served: Served) -> None:
    headers = served.key("admin", tenant="acme")
    for path in ("stats", "kinds", "tenants", "limits", "health/findings", "audit"):
        assert served.get(f"/api/{path}", headers=headers).status_code == 403
    assert (
        served.get("/api/errors", headers=served.key(tenant="acme", owner="ada")).status_code == 403
    )


def test_kinds_have_the_schema_of_their_arguments(served: Served, engine: Tenure) -> None:
    with Worker(engine):
        kinds = {one["kind"]: one for one in items(served, "/api/kinds")}

    assert kinds["ok"]["arguments"]["required"] == ["x"]
    assert kinds["ok"]["queue"] == "fast" and kinds["ok"]["workers"] == 1
    assert kinds["ok"]["lastHour"]["settled"]["succeeded"] == 0


def test_limits_are_set_and_removed(served: Served, engine: Tenure) -> None:
    put = served.client.put("/api/limits/mail.send", json={"running": 3})

    assert put.json()["running"] == 3 and put.json()["byOperator"]
    assert [one["kind"] for one in items(served, "/api/limits")] == ["mail.send"]
    assert served.client.delete("/api/limits/mail.send").status_code == 204
    assert served.client.delete("/api/limits/mail.send").status_code == 404
    assert served.client.put("/api/limits/mail.send", json={}).status_code == 422
    assert served.client.put("/api/limits/a", json={"running": 0}).status_code == 422
    actions = [one["action"] for one in items(served, "/api/audit", action="limit.")]
    assert actions == ["limit.forgotten", "limit.set"]
    assert items(served, "/api/audit", target="nothing") == []


def test_one_key_is_limited_and_held(served: Served, engine: Tenure) -> None:
    path = "/api/limits/mail.send"
    put = served.client.put(f"{path}?key=acme", json={"running": 2})
    assert (put.json()["key"], put.json()["running"]) == ("acme", 2)
    made = served.post(f"{path}/hold", {"key": "acme", "seconds": 60, "reason": "503", "probes": 1})
    assert (made.json()["key"], made.json()["seconds"], made.json()["probes"]) == ("acme", 60.0, 1)
    ends = "2100-01-01T00:00:00Z"
    whole = served.post(f"{path}/hold", {"until": ends, "reason": "all of it"})
    check_problem(whole, 422, "bad-option")  # too long: pause its queue

    listed = served.get("/api/limits").json()
    assert [(one["kind"], one["key"]) for one in listed["items"]] == [("mail.send", "acme")]
    assert [one["reason"] for one in listed["holds"]] == ["503"]
    gone = {"kind": "mail.send", "key": "acme", "released": True}
    assert served.post(f"{path}/release", {"key": "acme"}).json() == gone
    assert served.post(f"{path}/release", {"key": "acme"}).json()["released"] is False
    assert served.post(f"{path}/release").json()["released"] is False
    assert served.client.delete(f"{path}?key=acme").status_code == 204
    assert served.client.delete(f"{path}?key=acme").status_code == 404
    assert served.get("/api/limits").json() == {"items": [], "holds": []}
    said = [
        (one["action"], one["facts"]["key"]) for one in items(served, "/api/audit", action="limit.")
    ]
    assert said == [
        ("limit.forgotten", "acme"), ("limit.released", "acme"), ("limit.held", "acme"),
        ("limit.set", "acme"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "asked",
    [
        {"reason": "x"},
        {"seconds": 5},
        {"seconds": 5, "until": "2030-01-01T00:00:00Z", "reason": "x"},
        {"until": 5, "reason": "x"},
        {"seconds": 0, "reason": "x"},
        {"seconds": 5, "reason": "x", "key": ""},
        {"seconds": 5, "reason": "x", "probes": True},
    ],
)
def test_a_hold_has_one_end_and_a_reason(served: Served, asked: dict[str, Any]) -> None:
    check_problem(served.post("/api/limits/mail.send/hold", asked), 422, "invalid-request")
    assert served.get("/api/limits").json()["holds"] == []


def test_tenants_have_shares_and_caps(served: Served, engine: Tenure) -> None:
    engine.enqueue("ok", {"x": 1}, tenant="acme")

    put = served.client.put("/api/tenants/acme", json={"weight": 2.5, "cap": 4})
    empty = served.client.put("/api/tenants/-", json={"weight": 2})

    assert put.json() == {
        "tenant": "acme", "weight": 2.5, "cap": 4, "queued": 1, "held": 0, "running": 0,
        "atLeast": False,
    }  # fmt: skip
    assert empty.json()["tenant"] == ""
    assert served.client.put("/api/tenants/acme", json={"cap": None}).json()["weight"] == 2.5
    assert engine.tenants.caps() == {}
    assert {one["tenant"] for one in items(served, "/api/tenants")} == {"acme", ""}


def test_findings_bring_the_remedy(served: Served, engine: Tenure) -> None:
    engine.enqueue("nobody", {})
    engine.operator.pause("fast")

    found = served.get("/api/health/findings").json()
    by_check = {one["check"]: one for one in found["items"] if one["level"] != "ok"}

    assert found["status"] == "problem"
    [resume] = by_check["queues"]["remedies"]
    assert served.client.request(resume["method"], resume["path"]).status_code == 200
    cancel = next(one for one in by_check["kinds"]["remedies"] if one["method"])
    assert cancel["danger"]
    assert served.post(cancel["path"], cancel["body"]).json()["changed"] == 1


def test_the_jobs_in_the_hands_of_a_worker_are_listed(served: Served, engine: Tenure) -> None:
    job_id = engine.enqueue("ok", {"x": 1}).id
    engine.enqueue("ok", {"x": 2})
    place = engine.get(job_id)
    request = ClaimRequest(owner="host:1:a", kinds={"ok"}, slots={place.queue: 1}, lease_seconds=60)
    assert len(engine.store.jobs.claim(request).jobs) == 1

    assert [one["jobId"] for one in items(served, "/api/jobs", worker="host:1:a")] == [job_id]
    assert items(served, "/api/jobs", worker="host:1:b") == []
    counts = served.get("/api/jobs/counts?worker=host:1:a").json()["states"]
    assert counts["running"] == {"count": 1, "precision": "exact"}
