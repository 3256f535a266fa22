"""`tenure keys` and `tenure audit`."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tenure.access import Keys
from tests.cli.conftest import Shop


def test_a_key_is_shown_once_listed_and_revoked(shop: Shop) -> None:
    made = shop.call("keys", "create", "ci", "--permission", "write", "--tenant", "acme")
    key = made.stdout.strip()
    listed = shop.items("keys", "list")

    assert re.fullmatch("tenure_[0-9a-f]{12}_[0-9a-f]{64}", key)
    assert "not shown again" in made.stderr
    assert [(one["name"], one["permission"], one["tenant"]) for one in listed] == [
        ("ci", "write", "acme")
    ]
    assert key.rpartition("_")[2] not in shop.call("keys").stdout + str(listed)
    assert Keys(shop.engine).find(key) is not None
    assert "revoked" in shop.call("keys", "revoke", listed[0]["keyId"]).stdout
    assert Keys(shop.engine).find(key) is None
    assert "there are no keys" in shop.call("keys").stdout


def test_a_key_is_good_for_reading_unless_more_is_said(shop: Shop) -> None:
    made = shop.read("keys", "create", "grafana", "--expires", "90d")

    assert (made["permission"], made["tenant"], made["userId"]) == ("read", None, None)
    assert made["expiresAt"] is not None
    assert Keys(shop.engine).find(made["key"]) is not None


def test_what_is_not_there_cannot_be_revoked(shop: Shop) -> None:
    result = shop.call("keys", "revoke", "0" * 12)

    assert result.exit_code == 4
    assert "api_key_not_found" in result.stderr


@pytest.mark.parametrize("command", ["create", "link"])
@pytest.mark.parametrize(
    "wrong",
    [("--owner", "ada"), ("--permission", "root"), ("--tenant", "a\tb"), ("--owner", "")],
)
def test_a_key_that_would_mean_nothing_is_not_made(
    shop: Shop, command: str, wrong: tuple[str, str]
) -> None:
    assert shop.call("keys", command, "ci", *wrong).exit_code == 2
    assert shop.call("keys", command, "c\ni").exit_code == 2
    assert shop.items("keys", "list") == []
    assert shop.items("audit") == []


def test_a_link_is_printed(shop: Shop) -> None:
    made = shop.call("keys", "link", "ada", "--base-url", "https://jobs.example.org/")

    assert re.fullmatch(r"https://jobs\.example\.org/login\?token=[0-9a-f]{64}\n", made.stdout)


def test_sessions_and_unused_links_are_ended(shop: Shop) -> None:
    shop.call("keys", "link", "ada")
    shop.call("keys", "link", "bob")

    assert shop.read("keys", "end-sessions") == {"ended": 2}
    assert shop.call("keys", "end-sessions").stdout == "0 sessions and unused links ended\n"


def test_actions_are_told_newest_first(shop: Shop) -> None:
    assert "The audit log is empty" in shop.call("audit").stdout
    shop.call("queues", "pause", "pdf")
    shop.call("enqueue", "add", "--payload", "{}")
    shop.call("jobs", "cancel", "--kind", "add", "--yes")
    shop.call("keys", "create", "ci")

    lines = shop.items("audit")

    assert [line["action"] for line in lines] == ["key.created", "jobs.cancel", "queue.paused"]
    assert lines[1]["target"] == "kinds=add states=queued,running"
    assert lines[1]["facts"] == {"jobs": 1}
    assert all(line["actor"].startswith("cli") for line in lines)
    assert "queue.paused" in shop.call("audit").stdout
    assert len(shop.items("audit", "--limit", "1")) == 1


@pytest.mark.parametrize(
    ("command", "action", "target", "facts"),
    [
        ("tenants weigh acme 3", "tenant.weighed", "acme", {"weight": 3.0}),
        ("tenants cap acme 5", "tenant.capped", "acme", {"jobs": 5}),
        ("limits set add --running 3", "limit.set", "add",
         {"limit": "3 at a time", "each_key": False, "key": None}),
    ],
)  # fmt: skip
def test_what_changes_how_jobs_share_is_told_too(
    shop: Shop, command: str, action: str, target: str, facts: dict[str, Any]
) -> None:
    shop.call(*command.split())

    [line] = shop.items("audit")
    assert (line["action"], line["target"], line["facts"]) == (action, target, facts)
    assert line["actor"].startswith("cli")


def test_what_is_taken_back_is_told_once(shop: Shop) -> None:
    shop.call("tenants", "weigh", "acme", "3")
    shop.call("tenants", "cap", "acme", "5")
    shop.call("limits", "set", "add", "--running", "3")
    for _ in range(2):
        shop.call("tenants", "forget", "acme")
        shop.call("tenants", "uncap", "acme")
        shop.call("limits", "forget", "add")

    back = [line["action"] for line in shop.items("audit")[:3]]
    assert back == ["limit.forgotten", "tenant.uncapped", "tenant.weighed"]
    assert len(shop.items("audit")) == 6
