"""`tenure tenants` and `tenure jobs why`."""

from __future__ import annotations

import json

from tests.cli.conftest import Shop


def test_weights_are_set_shown_and_forgotten(shop: Shop) -> None:
    assert "weight 1" in shop.call("tenants").stdout
    assert shop.call("tenants", "weigh", "acme", "3").stdout == "tenant acme has weight 3\n"
    assert shop.items("tenants", "list") == [{"tenant": "acme", "weight": 3.0, "cap": None}]
    assert "acme" in shop.call("tenants").stdout
    shop.call("tenants", "forget", "acme")
    assert shop.items("tenants") == []


def test_a_weight_that_is_none_is_refused(shop: Shop) -> None:
    result = shop.call("tenants", "weigh", "acme", "0")

    assert result.exit_code != 0
    assert "a weight is a number from 0.001 to 1,000" in result.stderr


def test_caps_are_set_shown_and_lifted(shop: Shop) -> None:
    said = shop.call("tenants", "cap", "acme", "5").stdout
    assert said == "tenant acme runs at most 5 jobs at a time\n"
    shown = shop.items("tenants")
    assert shown == [{"tenant": "acme", "weight": 1.0, "cap": 5}]
    shop.call("tenants", "uncap", "acme")
    assert shop.items("tenants") == []


def test_a_cap_of_nothing_is_refused(shop: Shop) -> None:
    result = shop.call("tenants", "cap", "acme", "0")

    assert result.exit_code != 0
    assert "from 1 to 1,000,000, not 0; to stop all jobs, pause their queue" in result.stderr


def test_limits_are_set_shown_and_forgotten(shop: Shop) -> None:
    assert "no limits are set" in shop.call("limits").stdout
    said = shop.call("limits", "set", "add", "--running", "3", "--rate", "50", "--per", "60").stdout
    assert said == "add: 3 at a time, 50 starts in 60 s (1 at once)\n"
    shop.call("limits", "set", "add", "--rate", "20", "--each-key")
    shown = shop.items("limits")
    assert [(one["kind"], one["eachKey"], one["limit"]["running"]) for one in shown] == [
        ("add", False, 3),
        ("add", True, None),
    ]
    assert "each key" in shop.call("limits", "list").stdout
    assert shop.call("limits", "forget", "add").stdout == "add: limit removed\n"
    assert shop.call("limits", "forget", "add").stdout == "add: no limit was set\n"


def test_a_rate_of_nothing_is_refused(shop: Shop) -> None:
    result = shop.call("limits", "set", "add", "--rate", "0")

    assert result.exit_code != 0
    assert "rate must be a number above 0" in result.stderr
    assert "to stop all jobs, pause their queue" in result.stderr


def test_why_says_one_reason(shop: Shop) -> None:
    job_id = json.loads(shop.call("enqueue", "add", "--payload", "{}").stdout)["jobId"]

    assert "no worker is alive" in shop.call("jobs", "why", job_id).stdout
    told = json.loads(shop.call("jobs", "why", job_id, "--json").stdout)
    assert (told["jobId"], told["state"], told["why"]["code"]) == (job_id, "queued", "no_worker")
