"""The same commands on every database: migrate, enqueue, tick, look, purge, examine."""

from __future__ import annotations

import json

from tests.cli.conftest import Shop


def test_a_day_at_the_command_line(fresh_database_url: str, empty_shop: Shop) -> None:
    shop, database = empty_shop, ["--database", fresh_database_url]
    assert (
        shop.call("migrate", *database).stdout
        == "applied 0001_first\napplied 0002_chains\napplied 0003_limits\napplied 0004_lists\n"
        "applied 0005_standing\n"
        "applied 0006_queues\napplied 0007_gate_rules\napplied 0008_screens\n"
        "applied files/0001_files\n"
    )
    lines = '{"kind":"add","payload":{"a":1},"key":"k"}\n{"kind":"refuse"}\n{"kind":"boom"}\n'
    assert shop.call("enqueue", "--jsonl", "-", *database, input=lines).exit_code == 0

    tick = shop.run("tick", "--app", "shop:app", "--json", *database)
    assert tick.returncode == 0, tick.stderr

    rows = shop.call("jobs", "list", "--jsonl", *database).stdout.splitlines()
    by_kind = {row["kind"]: row for row in map(json.loads, rows)}
    assert by_kind["add"]["state"] == "succeeded"
    assert by_kind["refuse"]["state"] == "failed"
    shown = shop.read("jobs", "show", by_kind["refuse"]["jobId"], *database)
    assert shown["lastError"]["message"] == "never"
    assert shop.read("jobs", "cancel", "--kind", "boom", "--yes", *database)["matched"] <= 1
    assert shop.read("jobs", "purge", "--older-than", "0s", "--yes", *database)["removed"] >= 1
    assert shop.call("doctor", *database).exit_code == 0
