"""`tenure outbox`: events, one of them, and who subscribes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tenure import RunningJob, Tenure, Worker
from tenure.features.outbox import Event, Outbox
from tests.cli.conftest import Shop


def fill(shop: Shop) -> str:
    """Two invoices, of which one has no luck, and something that nobody wants; the first's id."""
    app = Tenure(shop.url)
    outbox = Outbox(app)
    app.include(outbox)

    @outbox.on("invoice.created", subscriber="mailer", ordered=True)
    def mail(job: RunningJob, event: Event) -> None:
        if event.data["n"] == 2:
            raise ValueError("no luck")

    outbox.publish(None, "invoice.viewed", aggregate=("Invoice", 1))
    first = outbox.publish(None, "invoice.created", aggregate=("Invoice", 1), data={"n": 1})
    Worker(app).tick()
    outbox.publish(None, "invoice.created", aggregate=("Invoice", 2), data={"n": 2})
    Worker(app).tick()
    app.close()
    return first.id


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_the_list_shows_each_delivery(shop: Shop) -> None:
    fill(shop)
    shown = shop.call("outbox", "list").stdout

    assert [line.split()[1:4] for line in shown.splitlines()[1:]] == [
        ["PENDING", "invoice.created", "mailer"],
        ["SENT", "invoice.created", "mailer"],
        ["FAILED", "invoice.viewed", "Invoice"],
    ]
    assert "ValueError: no luck" in shown
    assert "NO_HANDLER" in shown


def test_programs_read_all_of_it_line_by_line_or_in_pages(shop: Shop) -> None:
    fill(shop)
    every = lines(shop.call("outbox", "list", "--jsonl").stdout)
    first = json.loads(shop.call("outbox", "list", "--json", "--limit", "2").stdout)
    rest = json.loads(shop.call("outbox", "list", "--json", "--cursor", first["next"]).stdout)

    assert every == first["items"] + rest["items"]
    assert [row["status"] for row in every] == ["PENDING", "SENT", "FAILED"]
    assert lines(shop.call("outbox", "list", "--jsonl", "--limit", "1").stdout) == every[:1]


@pytest.mark.parametrize(
    ("options", "statuses"),
    [
        (["--status", "FAILED"], ["FAILED"]),
        (["--type", "invoice.created"], ["PENDING", "SENT"]),
        (["--subscriber", "mailer", "--status", "SENT"], ["SENT"]),
        (["--tenant", "acme"], []),
    ],
)
def test_the_list_is_narrowed(shop: Shop, options: list[str], statuses: list[str]) -> None:
    fill(shop)
    found = lines(shop.call("outbox", "list", "--jsonl", *options).stdout)

    assert [row["status"] for row in found] == statuses


def test_one_is_shown_whole_and_an_event_is_found(shop: Shop) -> None:
    event = fill(shop)
    [row] = json.loads(shop.call("outbox", "find", event, "--json").stdout)["items"]
    whole = json.loads(shop.call("outbox", "show", row["id"], "--json").stdout)
    shown = shop.call("outbox", "show", row["id"]).stdout

    assert whole == row
    assert (row["eventId"], row["status"], row["payload"]) == (event, "SENT", {"n": 1})
    assert "aggregateId    1" in shown
    assert '"n": 1' in shown
    assert "mailer" in shop.call("outbox", "find", event).stdout
    assert shop.call("outbox", "find", "none").stdout == "no events match\n"


def test_subscribers_are_listed_and_ended(shop: Shop) -> None:
    fill(shop)
    assert "yes, block" in shop.call("outbox", "subscribers").stdout
    shop.call("outbox", "unsubscribe", "invoice.created", "mailer")
    [one] = json.loads(shop.call("outbox", "subscribers", "--json").stdout)["items"]

    assert (one["subscriber"], one["active"]) == ("mailer", False)
    assert (one["onFailure"], one["kind"]) == ("block", "outbox:invoice.created:mailer")
    assert shop.items("audit")[0]["action"] == "subscriber.ended"


def test_an_empty_outbox_says_so(shop: Shop) -> None:
    shop.call("migrate")

    assert shop.call("outbox", "list").stdout == "no events match\n"
    assert shop.call("outbox", "subscribers").stdout.startswith("no subscribers")


@pytest.mark.parametrize(
    ("command", "code", "problem"),
    [
        (["show", "99"], 4, "there is no job 99"),
        (["list", "--status", "sent"], 2, "--status"),
        (["unsubscribe", "a", "b"], 2, "'b' does not subscribe to 'a'"),
    ],
)
def test_what_is_wrong_is_one_line(shop: Shop, command: list[str], code: int, problem: str) -> None:
    shop.call("migrate")
    done = shop.call("outbox", *command)

    assert done.exit_code == code
    assert problem in done.stderr
