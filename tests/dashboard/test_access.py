"""Who may do what: the page offers no action that is refused, and the API refuses what it hides."""

from __future__ import annotations

import json

import pytest

from tenure import JobFilter, Tenure
from tests.dashboard.page_tab import SCREENS, PageTab
from tests.support.until import until
from tests.support.up import Up

ACTIONS = ("Retry", "Cancel", "Discard", "Pause", "Resume", "Run now", "Limit…", "Edit", "New job",
           "Retry…", "Discard…", "Add sample jobs", "Set a weight or cap",
           "Enqueue a copy")  # fmt: skip
BUTTONS = "[...document.querySelectorAll('button, a.button')].map(one => one.textContent.trim())"
MUTATIONS = [
    ("POST", "/api/jobs", {"kind": "mail.send", "payload": {}}),
    ("POST", "/api/jobs/JOB/retry", None),
    ("POST", "/api/jobs/JOB/cancel", None),
    ("POST", "/api/jobs/replay", {"kind": ["mail.send"]}),
    ("POST", "/api/jobs/cancel", {"kind": ["mail.send"]}),
    ("POST", "/api/queues/mail/pause", None),
    ("POST", "/api/queues/mail/resume", None),
    ("PUT", "/api/limits/mail.send", {"running": 1}),
    ("PUT", "/api/tenants/acme", {"weight": 2}),
    ("POST", "/api/schedules/report.daily/run", None),
    ("POST", "/api/schedules/report.daily/pause", None),
    ("POST", "/api/outbox/1/retry", None),
]
SEND = """(async (method, path, body) => {
    const session = await (await fetch("/session")).json();
    const headers = {"x-csrf-token": session.csrfToken, "content-type": "application/json"};
    return (await fetch(path, {method, headers, body: body && JSON.stringify(body)})).status;
})"""


def test_a_reader_sees_every_screen_and_no_action(reader: PageTab, filled: Tenure) -> None:
    for address, title in SCREENS.items():
        if address == "/audit":  # for operators
            continue
        reader.visit(address, title)
        assert not set(reader.run(BUTTONS)) & set(ACTIONS), address
    dead = next(iter(filled.insight.stream(JobFilter(kinds=("stock.sync",)))))
    reader.visit(f"/jobs/{dead.id}", "stock.sync")
    assert not set(reader.run(BUTTONS)) & set(ACTIONS)
    assert "read only" in reader.text(".person")
    assert reader.complaints == []


def test_every_change_of_a_reader_is_refused(reader: PageTab, filled: Tenure) -> None:
    job = next(iter(filled.insight.stream(JobFilter(kinds=("stock.sync",))))).id
    for method, path, body in MUTATIONS:
        call = ", ".join(map(json.dumps, (method, path.replace("JOB", job), body)))
        assert reader.run(f"{SEND}({call})") == 403, path


def test_a_tenant_sees_its_jobs_and_a_page_for_the_rest(tenant: PageTab, filled: Tenure) -> None:
    tenant.visit("/", "Jobs")
    tenant.sees("order.pay", ".jobs tbody")
    assert "globex" not in tenant.text(".jobs tbody")
    assert "Queues" not in tenant.text("nav")

    tenant.visit("/queues")
    tenant.sees("You may not see this")


def test_an_ended_session_gets_a_page(page: PageTab, service: Up) -> None:
    page.visit("/queues")
    page.ask("Network.clearBrowserCookies")

    page.press("g", 71)
    page.press("w", 87)

    page.sees("Your session has ended")
    page.sees("tenure keys link")


@pytest.mark.parametrize("address", ["/jobs/999999999", "/jobs/none-such"])
def test_a_job_that_does_not_exist_is_said_so(page: PageTab, address: str) -> None:
    page.visit(address, "Job")
    until(
        lambda: (
            "There is no such job" in page.text("main") or "That did not work" in page.text("main")
        )
    )
