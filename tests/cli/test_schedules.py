"""`tenure schedules`: see them, and change them at run time."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tenure.cli.up.command import SAMPLE_APP
from tests.cli.conftest import Shop

NIGHTLY = """

from tenure.features.schedules import Schedules

Schedules(app).cron("30 2 * * *", zone="Europe/Berlin", payload={"a": 1}, name="nightly")(add)
"""


@pytest.fixture
def nightly(shop: Shop) -> Shop:
    """With one schedule, known to the database."""
    module = shop.folder / "scheduled.py"
    module.write_text((shop.folder / "shop.py").read_text() + NIGHTLY)
    assert shop.run("tick", "--app", "scheduled:app").returncode == 0
    return shop


def test_without_schedules_the_list_says_where_they_come_from(shop: Shop) -> None:
    assert "a worker whose app declares some" in shop.call("schedules").stdout
    assert shop.read("schedules", "list") == {"items": []}


def test_the_sample_app_leaves_the_schedules_of_others_alone(nightly: Shop) -> None:
    assert nightly.run("tick", "--app", SAMPLE_APP).returncode == 0
    assert nightly.read("schedules", "show", "nightly")["state"] == "active"


def test_the_list_and_one_of_them(nightly: Shop) -> None:
    [row] = nightly.read("schedules", "list")["items"]
    assert (row["name"], row["cron"], row["zone"]) == ("nightly", "30 2 * * *", "Europe/Berlin")
    assert (row["kind"], row["payload"], row["state"]) == ("add", {"a": 1}, "active")
    assert nightly.read("schedules", "show", "nightly") == row

    table = nightly.call("schedules").stdout
    assert "30 2 * * * Europe/Berlin" in table
    assert "Europe/Berlin" in nightly.call("schedules", "show", "nightly").stdout


def test_pause_and_resume(nightly: Shop) -> None:
    paused = nightly.read("schedules", "pause", "nightly")
    assert (paused["state"], paused["pausedBy"][:3]) == ("paused", "cli")
    assert nightly.read("schedules", "resume", "nightly")["state"] == "active"


@pytest.mark.parametrize(
    ("options", "changed"),
    [
        (["--cron", "@hourly"], {"cron": "@hourly"}),
        (["--every", "15m"], {"cron": None, "every": 900}),
        (["--zone", "Asia/Tokyo"], {"zone": "Asia/Tokyo"}),
        (["--payload", '{"a": 5}'], {"payload": {"a": 5}}),
        (["--catch-up", "all", "--limit", "7"], {"catchUp": "all", "limit": 7}),
    ],
)
def test_edit_and_reset(nightly: Shop, options: list[str], changed: dict[str, Any]) -> None:
    before = nightly.read("schedules", "show", "nightly")

    after = nightly.read("schedules", "edit", "nightly", *options)

    assert {name: after[name] for name in changed} == changed
    assert set(changed) <= set(after["edited"])
    assert nightly.read("schedules", "edit", "nightly", "--reset") == before


def test_an_interval_is_shown_as_people_say_it(nightly: Shop) -> None:
    nightly.call("schedules", "edit", "nightly", "--every", "90m")

    assert "every 90m" in nightly.call("schedules", "list").stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--cron", "99 * * * *"], "bad minute; write minute hour day"),
        (["--zone", "Mars/Base"], "zone 'Mars/Base' is not a time zone"),
        (["--every", "0s"], "every must be from 1 second"),
        (["--every", "1.5s"], "whole seconds"),
        (["--payload", "[1]"], "payload must be an object"),
        (["--payload", "{"], "not JSON"),
        (["--cron", "@daily", "--every", "1h"], "cron or every, not both"),
        (["--limit", "0"], "limit must be"),
        ([], "say what to edit"),
        (["--reset", "--limit", "3"], "--reset alone"),
    ],
)
def test_a_wrong_edit_is_refused(nightly: Shop, options: list[str], words: str) -> None:
    result = nightly.call("schedules", "edit", "nightly", *options)

    assert result.exit_code == 2
    assert words in result.stderr


def test_with_an_app_the_payload_is_checked(nightly: Shop) -> None:
    wrong = nightly.run(
        "schedules", "edit", "nightly", "--payload", '{"b": 1}', "--app", "scheduled:app"
    )

    assert wrong.returncode == 2
    assert "arguments do not match" in wrong.stderr


def test_run_adds_a_job_now(nightly: Shop) -> None:
    ref = nightly.read("schedules", "run", "nightly")

    assert nightly.engine.get(ref["jobId"]).payload == {"a": 1}
    assert nightly.call("schedules", "run", "nightly").stdout.startswith("job ")
    assert [line["action"] for line in nightly.items("audit")] == ["schedule.run"] * 2


@pytest.mark.parametrize("verb", ["show", "pause", "resume", "run"])
def test_a_schedule_that_is_not_there(shop: Shop, verb: str) -> None:
    result = shop.call("schedules", verb, "x")

    assert result.exit_code == 4
    assert "[schedule_not_found]" in result.stderr


def test_the_doctor_names_schedules_that_nobody_fires(nightly: Shop) -> None:
    assert "1 active, none late" in nightly.call("doctor").stdout


def test_a_tick_may_be_limited_to_one_schedule(nightly: Shop) -> None:
    alone = nightly.run("tick", "--app", "scheduled:app", "--runners", "nightly", "--json")
    wrong = nightly.run("tick", "--app", "scheduled:app", "--runners", "nightly,weekly")

    assert [one["name"] for one in json.loads(alone.stdout)["runners"]] == ["nightly"]
    assert wrong.returncode == 2
    assert "names 'weekly'; registered are: schedules, jobs, pruning, nightly" in wrong.stderr
