"""`tenure doctor` and `tenure migrate`: what is well, what is not, and what to do next."""

from __future__ import annotations

import json
import sqlite3
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tenure import Tenure, Worker
from tenure.feature.finding import Level
from tenure.operations.insight import WORKERS
from tenure.stores.contract import ClaimRequest
from tenure.stores.contract.parts import Record
from tenure.testing.clock import ManualClock
from tenure.watch.doctor.checks import clock, wal_reset
from tests.cli.conftest import Shop

UNREACHABLE = "postgresql://someone:secret@127.0.0.1:1/nowhere"


def test_a_healthy_database_is_well(shop: Shop) -> None:
    report = shop.read("doctor")
    text = shop.call("doctor")

    checks = {finding["check"] for finding in report["findings"]}
    assert report["status"] in ("ok", "warning")
    assert {"database", "schema", "clock", "workers", "stuck jobs", "kinds"} <= checks
    assert text.exit_code == 0
    assert "No problems" in text.stdout


def test_an_unmigrated_database_is_a_problem_and_stays_as_it_is(empty_shop: Shop) -> None:
    path = empty_shop.folder / "shop.db"
    sqlite3.connect(path).execute("CREATE TABLE mine (a)").connection.close()

    result = empty_shop.call("doctor", "--json")

    assert result.exit_code == 1
    schema = json.loads(result.stdout)["findings"][-1]
    assert (schema["check"], schema["next"]) == ("schema", "run: tenure migrate")
    assert "pending: 0001_first" in schema["fact"]
    assert empty_shop.call("jobs", "list").exit_code == 3
    assert "[migrations_pending]" in empty_shop.call("jobs", "list").stderr


@pytest.mark.parametrize("command", [["doctor"], ["jobs", "list"]])
@pytest.mark.parametrize(
    ("url", "code"),
    [(UNREACHABLE, 3), ("sqlite:////nowhere/x.db", 3), ("postgres//x", 2), ("mongodb://x/y", 2)],
)
def test_an_unreachable_database_is_exit_code_3_and_a_bad_url_2(
    shop: Shop, command: list[str], url: str, code: int
) -> None:
    result = shop.call(*command, "--database", url)

    assert result.exit_code == code
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert "secret" not in result.stderr


def test_an_unreachable_database_as_json(shop: Shop) -> None:
    result = shop.call("doctor", "--database", UNREACHABLE, "--json")

    assert result.exit_code == 3
    assert json.loads(result.stdout)["code"] == "store_unavailable"


@pytest.mark.parametrize("command", [["jobs", "list"], ["migrate"], ["enqueue", "add"], ["doctor"]])
def test_an_empty_url_is_an_error_and_not_the_default(
    shop: Shop, command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    by_option = shop.call(*command, "--database", "")
    monkeypatch.setenv("TENURE_DATABASE_URL", "")
    by_variable = shop.call(*command)

    for result in (by_option, by_variable):
        assert result.exit_code == 2
        assert result.stderr.endswith("[bad_url]\n")
    assert not (shop.folder / "tenure.db").exists()


def test_findings_say_what_to_do_next(shop: Shop) -> None:
    shop.call("enqueue", "mystery")
    shop.call("queues", "pause", "default")

    result = shop.call("doctor")

    assert result.exit_code == 1
    assert "1 job waits: no live worker takes kind 'mystery' from queue 'default'" in result.stdout
    assert "tenure jobs cancel --kind mystery --queue default" in result.stdout
    assert "tenure queues resume default" in result.stdout


def ago(shop: Shop, **length: float) -> Tenure:
    """The shop's engine, at that time."""
    return Tenure(shop.url, clock=ManualClock(datetime.now(UTC) - timedelta(**length)))


def sign_in(engine: Tenure, name: str, kinds: list[str], queues: dict[str, int]) -> None:
    """What a worker leaves of itself."""
    data = {"host": "h", "pid": 1, "kinds": kinds, "queues": queues, "running": 0}
    engine.store.records.upsert(
        Record(collection=WORKERS, name=name, data={**data, "started_at": "long ago"})
    )


def findings(shop: Shop, check: str) -> list[dict[str, Any]]:
    """What the doctor says about one thing."""
    said = json.loads(shop.call("doctor", "--json").stdout)["findings"]
    return [finding for finding in said if finding["check"] == check]


def test_a_kind_that_is_known_only_to_workers_of_another_queue_waits(shop: Shop) -> None:
    sign_in(shop.engine, "w", ["render"], {"pdf": 1})
    for queue in ("pdf", "default", "default"):
        shop.call("enqueue", "render", "--queue", queue)

    (finding,) = findings(shop, "kinds")

    fact = "2 jobs wait: no live worker takes kind 'render' from queue 'default'"
    assert (finding["level"], finding["fact"]) == ("problem", fact)
    sign_in(shop.engine, "v", ["other", "render"], {"mail": 1, "default": 1})
    assert [finding["level"] for finding in findings(shop, "kinds")] == ["ok"]


def test_a_silent_worker_is_named_and_takes_nothing(shop: Shop) -> None:
    sign_in(shop.engine, "living", ["add"], {"default": 1})
    sign_in(ago(shop, minutes=3), "killed", ["render"], {"default": 1})
    shop.call("enqueue", "render")

    (workers,) = findings(shop, "workers")

    assert workers["level"] == "warning"
    assert workers["fact"] == "1 alive, 1 silent: killed (for 3m)"
    assert [finding["level"] for finding in findings(shop, "kinds")] == ["problem"]


def test_jobs_whose_lease_ran_out_long_ago_are_stuck(shop: Shop) -> None:
    assert [finding["level"] for finding in findings(shop, "stuck jobs")] == ["ok"]
    earlier = ago(shop, minutes=3)
    earlier.enqueue_many([earlier.new("add"), earlier.new("add")])
    request = ClaimRequest(owner="w", kinds=["add"], slots={"default": 1}, lease_seconds=60)
    assert len(earlier.store.jobs.claim(request).jobs) == 1

    (finding,) = findings(shop, "stuck jobs")

    assert finding["level"] == "problem"
    assert finding["fact"] == "1 job with a lease that ran out and that no worker took up"
    assert shop.call("doctor").exit_code == 1


def test_an_ordering_key_that_has_stopped_is_named(shop: Shop) -> None:
    head = shop.engine.enqueue("mail.send", tenant="acme", ordering_key="order-7")
    shop.engine.enqueue("mail.send", tenant="acme", ordering_key="order-7")
    with shop.engine.transaction() as tx:
        tx.execute("UPDATE tenure_jobs SET hold = 1 WHERE id = :id", id=int(head.id))

    report = json.loads(shop.call("doctor", "--json").stdout)
    [found] = [one for one in report["findings"] if one["check"] == "ordering keys"]

    assert found["level"] == "warning"
    assert (
        "1 key with waiting jobs and nobody ahead of them: 'order-7' of tenant 'acme'"
        in found["fact"]
    )


def test_dead_letters_are_counted(shop: Shop) -> None:
    engine = shop.engine

    @engine.job("boom")
    def boom(job: object) -> None:
        raise ValueError

    shop.call("enqueue", "boom", "--max-attempts", "1")
    Worker(engine).run_until_idle()

    result = shop.call("doctor")
    assert result.exit_code == 0
    assert "0 failed, 1 dead" in result.stdout


def test_clocks_that_are_apart_are_a_problem(shop: Shop) -> None:
    assert clock(shop.engine, 2.0).level is Level.OK
    assert clock(shop.engine, -1.0).level is Level.PROBLEM


def test_the_wal_reset_bug_is_told_until_it_is_fixed() -> None:
    assert [finding.level for finding in wal_reset((3, 51, 2))] == [Level.WARNING]
    assert list(wal_reset((3, 51, 3))) == []


def test_migrate_shows_then_applies_then_has_nothing_to_do(empty_shop: Shop) -> None:
    dry = empty_shop.call("migrate", "--dry-run")
    assert "CREATE TABLE tenure_jobs" in dry.stdout
    assert not (empty_shop.folder / "shop.db").exists()

    assert (
        empty_shop.call("migrate").stdout
        == "applied 0001_first\napplied 0002_chains\napplied 0003_limits\napplied 0004_lists\n"
        "applied 0005_standing\n"
        "applied 0006_queues\napplied 0007_gate_rules\napplied 0008_screens\n"
        "applied files/0001_files\n"
    )
    assert empty_shop.call("migrate").stdout.startswith("nothing to do")
    assert empty_shop.call("migrate", "--dry-run").stdout == ""


def add_migration(shop: Shop, *, serves: int) -> None:
    """As a newer Tenure would."""
    with sqlite3.connect(shop.folder / "shop.db") as connection:
        sql = "INSERT INTO tenure_migrations (version, name, serves) VALUES (9000, 'later', ?)"
        connection.execute(sql, (serves,))
    connection.close()


@pytest.mark.parametrize("options", [[], ["--dry-run"]])
def test_migrate_refuses_a_schema_that_no_longer_serves_this_code(
    shop: Shop, options: list[str]
) -> None:
    add_migration(shop, serves=9000)

    result = shop.call("migrate", *options)

    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr.endswith("[code_too_old]\n")
    latest = shop.engine.store.migrations.latest  # type: ignore[attr-defined]
    (schema,) = findings(shop, "schema")
    serves = "serves code of schema version 9000 and newer"
    assert schema["fact"] == f"{serves}; this code is at {latest}"


def test_migrate_leaves_a_newer_schema_that_serves_this_code(shop: Shop) -> None:
    add_migration(shop, serves=1)

    result = shop.call("migrate")

    assert result.exit_code == 0
    assert "is at version 9000, newer than this code, and serves it" in result.stdout
    assert shop.call("doctor").exit_code == 0


def test_a_wrong_setting_is_named(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENURE_LEASE_SECONDS", "soon")

    result = shop.run("jobs", "list")

    assert result.returncode == 2
    assert result.stderr.startswith("error: TENURE_LEASE_SECONDS: Input should be a valid number")
    assert result.stderr.endswith("[bad_settings]\n")


def test_help_tells_the_exit_codes(shop: Shop) -> None:
    result = shop.call("--help")

    assert result.exit_code == 0
    assert "4 not found" in " ".join(result.stdout.split())
    assert "3 database unavailable" in " ".join(result.stdout.split())
    doctor = shop.call("doctor", "--help").stdout
    assert "3 database unavailable" in " ".join(doctor.replace("│", " ").split())
    assert shop.call().stdout == result.stdout
    assert shop.call("nonsense").exit_code == 2
