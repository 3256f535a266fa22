"""`tenure doctor` and `tenure migrate`: what is well, what is not, and what to do next."""

from __future__ import annotations

import json
import sqlite3

import pytest

from tenure import Worker
from tenure.cli.checks import Level, clock, wal_reset
from tests.cli.conftest import Shop

UNREACHABLE = "postgresql://someone:secret@127.0.0.1:1/nowhere"


def test_a_healthy_database_is_well(shop: Shop) -> None:
    report = shop.read("doctor")
    text = shop.call("doctor")

    checks = {finding["check"] for finding in report["findings"]}
    assert report["status"] in ("ok", "warning")
    assert {"database", "schema", "clock", "workers", "stuck jobs", "kinds"} <= checks
    assert text.exit_code == 0
    assert "All well" in text.stdout


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


@pytest.mark.parametrize(
    "url", [UNREACHABLE, "sqlite:////nowhere/x.db", "postgres//x", "mongodb://x/y"]
)
def test_an_unreachable_database_is_exit_code_2(shop: Shop, url: str) -> None:
    result = shop.call("doctor", "--database", url)

    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert "secret" not in result.stderr


def test_an_unreachable_database_as_json(shop: Shop) -> None:
    result = shop.call("doctor", "--database", UNREACHABLE, "--json")

    assert json.loads(result.stdout)["code"] == "store_unavailable"
    assert shop.call("jobs", "list", "--database", UNREACHABLE).exit_code == 3


def test_findings_say_what_to_do_next(shop: Shop) -> None:
    shop.call("enqueue", "mystery")
    shop.call("queues", "pause", "default")

    result = shop.call("doctor")

    assert result.exit_code == 1
    assert "1 job of 'mystery' in queue 'default' wait" in result.stdout
    assert "tenure jobs cancel --kind mystery" in result.stdout
    assert "tenure queues resume default" in result.stdout


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

    assert empty_shop.call("migrate").stdout == "applied 0001_first\n"
    assert empty_shop.call("migrate").stdout.startswith("nothing to do")
    assert empty_shop.call("migrate", "--dry-run").stdout == ""


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
    assert shop.call().stdout == result.stdout
    assert shop.call("nonsense").exit_code == 2
