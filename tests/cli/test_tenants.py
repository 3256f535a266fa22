"""`tenure tenants` and `tenure jobs why`."""

from __future__ import annotations

import json

from tests.cli.conftest import Shop


def test_weights_are_set_shown_and_forgotten(shop: Shop) -> None:
    assert "weighs 1" in shop.call("tenants").stdout
    assert shop.call("tenants", "weigh", "acme", "3").stdout == "tenant acme weighs 3\n"
    shown = shop.call("tenants", "list", "--json").stdout
    assert json.loads(shown) == [{"tenant": "acme", "weight": 3.0}]
    assert "acme" in shop.call("tenants").stdout
    shop.call("tenants", "forget", "acme")
    assert json.loads(shop.call("tenants", "--json").stdout) == []


def test_a_weight_that_is_none_is_refused(shop: Shop) -> None:
    result = shop.call("tenants", "weigh", "acme", "0")

    assert result.exit_code != 0
    assert "a weight is a number from 0.001 to 1,000" in result.stderr


def test_why_says_one_reason(shop: Shop) -> None:
    job_id = json.loads(shop.call("enqueue", "add", "--payload", "{}").stdout)["id"]

    assert "no worker is alive" in shop.call("jobs", "why", job_id).stdout
    told = json.loads(shop.call("jobs", "why", job_id, "--json").stdout)
    assert (told["id"], told["state"], told["code"]) == (job_id, "queued", "no_worker")
