"""`tenure limits`: limits of one key, holds, and what `jobs why` says about them."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Shop


def test_a_limit_of_one_key_is_set_shown_and_forgotten(shop: Shop) -> None:
    said = shop.call("limits", "set", "add", "--key", "acme", "--running", "2").stdout
    assert said == "add (key acme): 2 at a time\n"
    assert [(one["key"], one["eachKey"]) for one in shop.items("limits")] == [("acme", False)]
    assert "key acme" in shop.call("limits").stdout
    assert shop.call("limits", "forget", "add", "--key", "acme").stdout == "add: limit removed\n"
    assert shop.items("limits") == []


def test_a_hold_is_set_shown_and_released(shop: Shop) -> None:
    line = json.dumps({"kind": "add", "payload": {"a": 1}, "limitKey": "acme"})
    job_id = json.loads(shop.call("enqueue", "--jsonl", "-", input=line).stdout)["jobId"]
    said = shop.call(
        "limits", "hold", "add", "--key", "acme", "--until", "5m", "--reason", "503 from acme"
    )
    assert said.stdout.startswith("add (key acme): held until 20")
    [held] = shop.read("limits", "list")["holds"]
    assert (held["kind"], held["key"], held["reason"]) == ("add", "acme", "503 from acme")
    assert "503 from acme" in shop.call("limits").stdout

    why = shop.read("jobs", "why", job_id)["why"]
    assert why["code"] == "held"
    assert "its limit_key 'acme' is held until 20" in why["text"]
    assert why["text"].endswith(": 503 from acme")

    assert shop.call("limits", "release", "add", "--key", "acme").stdout.endswith(": released\n")
    assert shop.call("limits", "release", "add").stdout == "add: no hold was set\n"
    assert shop.read("jobs", "why", job_id)["why"]["code"] == "no_worker"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--until 2020-01-01T00:00:00Z --reason x", "a hold must end in the future"),
        ("--until soon --reason x", "such as 5m"),
        ("--until 5m --reason x --probes -1", "probes must be a whole number from 0"),
        ("--until 9999d --reason x", "more than the maximum"),
        ("--until 400d --reason x", "a hold may last 366 days"),
    ],
)
def test_a_wrong_hold_is_refused_and_nothing_is_written(shop: Shop, words: str, said: str) -> None:
    result = shop.call("limits", "hold", "add", *words.split())

    assert result.exit_code == 2
    assert said in " ".join(result.stderr.replace("│", " ").split())
    assert shop.read("limits", "list")["holds"] == []
