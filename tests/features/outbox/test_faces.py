"""The outbox over HTTP, in metrics, in log lines and in the doctor's words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tenure import NO_RETRY, Fail, RunningJob, Tenure, Worker
from tenure.api import create_api
from tenure.feature import Level
from tenure.features.outbox import Event, Outbox, checks
from tenure.testing import run_until_idle
from tenure.watch.metrics import Metrics
from tenure.watch.storyteller import Storyteller
from tests.api.conftest import Served, listening


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Tenure]:
    """Instead of those on every database: the faces do not depend on it."""
    made = Tenure(f"sqlite:///{tmp_path / 'jobs.db'}")
    yield made
    made.close()


@pytest.fixture
def outbox(app: Tenure) -> Outbox:
    """One event that is sent, one that fails, and one that nobody wants."""
    made = Outbox(app)

    @made.on("paid", subscriber="mailer")
    def mail(job: RunningJob, event: Event) -> None:
        if event.data["n"] == 2:
            raise Fail("no luck", code="no_luck")

    return made


def fill(app: Tenure, outbox: Outbox) -> None:
    outbox.publish(None, "paid", data={"n": 1})
    outbox.publish(None, "paid", data={"n": 2}, tenant="acme")
    outbox.publish(None, "lost")
    Worker(app).run_until_idle()


@pytest.fixture
def served(app: Tenure, outbox: Outbox) -> Iterator[Served]:
    fill(app, outbox)
    api = create_api(app)
    with listening(api) as url, httpx.Client(base_url=url, timeout=20) as client:
        made = Served(app, api, client, url)
        client.headers.update(made.key("admin"))
        yield made


def statuses(answer: httpx.Response) -> list[tuple[str, str, str | None]]:
    return sorted((one["status"], one["type"], one["subscriber"]) for one in answer.json()["items"])


def test_events_are_listed_with_filters(served: Served) -> None:
    every = served.get("/api/outbox")

    assert statuses(every) == [
        ("FAILED", "lost", None), ("FAILED", "paid", "mailer"), ("SENT", "paid", "mailer"),
    ]  # fmt: skip
    assert statuses(served.get("/api/outbox?status=SENT")) == [("SENT", "paid", "mailer")]
    assert statuses(served.get("/api/outbox?type=lost")) == [("FAILED", "lost", None)]
    assert len(statuses(served.get("/api/outbox?subscriber=mailer"))) == 2
    assert statuses(served.get("/api/outbox?tenant=acme")) == [("FAILED", "paid", "mailer")]
    assert served.get("/api/outbox?status=LOST").status_code == 422
    assert served.get("/api/outbox?tenant=a%00b").status_code == 422


def test_pages_follow_each_other(served: Served) -> None:
    found, after = list[str](), ""
    for _ in range(3):
        page = served.get(f"/api/outbox?pageSize=1{after}").json()
        found += [one["id"] for one in page["items"]]
        after = f"&after={page['next']}"

    assert len(set(found)) == 3
    assert served.get(f"/api/outbox?status=SENT{after}").status_code == 400


def test_a_caller_of_a_tenant_sees_its_own_events(served: Served) -> None:
    mine = served.key("read", tenant="acme")
    failed = served.get("/api/outbox", headers=mine)
    sent = served.get("/api/outbox?status=SENT").json()["items"][0]["id"]

    assert statuses(failed) == [("FAILED", "paid", "mailer")]
    assert statuses(served.get("/api/outbox?tenant=globex", headers=mine)) == []
    assert served.get(f"/api/outbox/{sent}", headers=mine).status_code == 404


def test_one_is_shown_and_sent_once_more(served: Served) -> None:
    [failed] = served.get("/api/outbox?status=FAILED&subscriber=mailer").json()["items"]
    one = served.get(f"/api/outbox/{failed['id']}").json()
    again = served.post(f"/api/outbox/{failed['id']}/retry")

    assert (one["payload"], one["lastError"]) == ({"n": 2}, "no_luck: no luck")
    assert (again.status_code, again.json()["status"]) == (200, "PENDING")


def test_a_job_that_is_no_event_is_not_there(served: Served) -> None:
    other = served.engine.enqueue("other")

    assert served.get(f"/api/outbox/{other.id}").status_code == 404
    assert served.post(f"/api/outbox/{other.id}/retry").status_code == 404
    assert served.engine.get(other.id).attempt == 0


def test_a_reader_may_not_retry(served: Served) -> None:
    [one] = served.get("/api/outbox?type=lost").json()["items"]
    refused = served.post(f"/api/outbox/{one['id']}/retry", headers=served.key("read"))

    assert refused.status_code == 403


def test_events_are_counted_by_status(app: Tenure, outbox: Outbox) -> None:
    metrics = Metrics.of(app)
    fill(app, outbox)
    text = metrics.exposition("")[0].decode()

    assert 'outbox_events{status="FAILED"} 2.0' in text
    assert 'outbox_events{status="PENDING"} 0.0' in text
    assert "outbox_unhandled_total 1.0" in text


def test_an_event_that_nobody_wants_is_told_once(app: Tenure, outbox: Outbox) -> None:
    told: list[str] = []
    Storyteller(lambda one: told.append(one.text)).listen(app.signals, app.features)
    fill(app, outbox)
    fill(app, outbox)

    assert len([one for one in told if "nobody subscribes to events of type lost" in one]) == 1


def test_the_doctor_names_what_failed_and_what_nobody_wants(app: Tenure, outbox: Outbox) -> None:
    [well] = outbox.checks()
    fill(app, outbox)
    unwanted, failed = outbox.checks()

    assert (well.level, unwanted.level, failed.level) == (Level.OK, Level.WARNING, Level.WARNING)
    assert "of these types: lost" in unwanted.fact
    assert failed.fact == "1 event FAILED on the way to a subscriber"


def test_the_doctor_looks_at_the_newest_failed_jobs_and_says_so(
    app: Tenure, outbox: Outbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many jobs of other kinds failed since: every open dashboard asks for the checks."""
    monkeypatch.setattr(checks, "LOOKED_AT", 2)
    fill(app, outbox)
    app.job("boom", retry=NO_RETRY)(lambda job: 1 / 0)
    app.enqueue_many([app.new("boom") for _ in range(3)])
    run_until_idle(app)

    [found] = outbox.checks()
    assert found.level is Level.OK
    assert found.fact.endswith("none FAILED among the newest 2 failed jobs")


def test_an_app_without_an_outbox_shows_events_and_dispatches_none(
    app: Tenure, outbox: Outbox, tmp_path: Path
) -> None:
    outbox.publish(None, "paid", data={"n": 1})
    other = Tenure(app.url)
    other.job("any")(lambda job: None)
    Worker(other).run_until_idle()

    assert [one.status for one in Outbox.of(other).events()] == ["PENDING"]
    other.close()
