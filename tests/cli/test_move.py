"""`tenure move`: from the file that was outgrown to a server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Shop
from tests.support.until import until


@pytest.fixture
def two_jobs(shop: Shop) -> Shop:
    for number in (1, 2):
        assert shop.call("enqueue", "add", "--payload", f'{{"a": {number}}}').exit_code == 0
    return shop


def test_a_file_becomes_a_server(two_jobs: Shop, fresh_database_url: str) -> None:
    shop, ends = two_jobs, ["--from", two_jobs.url, "--to", fresh_database_url]
    before = shop.call("jobs", "list", "--jsonl").stdout

    planned = shop.read("move", *ends, "--dry-run")
    assert (planned["dryRun"], planned["rows"], planned["written"]) == (True, 2, 0)
    moved = shop.read("move", *ends)
    assert (moved["verified"], moved["sourceClosed"], moved["written"]) == (True, True, 2)
    assert moved["tables"][0]["table"] == "tenure_jobs" and moved["lastIds"]["tenure_jobs"] == 2

    there = ["--database", fresh_database_url]
    assert shop.call("jobs", "list", "--jsonl", *there).stdout == before
    assert shop.read("move", *ends, "--verify-only")["tables"] == [
        {**table, "added": 0} for table in moved["tables"]
    ]
    tick = shop.run("tick", "--app", "shop:app", "--json", *there)
    assert tick.returncode == 0, tick.stderr
    rows = shop.call("jobs", "list", "--jsonl", *there).stdout.splitlines()
    assert {json.loads(row)["state"] for row in rows} == {"succeeded"}


def test_a_dry_run_makes_no_file(two_jobs: Shop) -> None:
    told = two_jobs.call("move", "--from", two_jobs.url, "--to", "sqlite:///new.db", "--dry-run")

    assert "tenure_jobs  2\n" in told.stdout and "would move 2 rows" in told.stdout
    assert not Path("new.db").exists()


def test_what_was_done_is_told(two_jobs: Shop) -> None:
    told = two_jobs.call("move", "--from", two_jobs.url, "--to", "sqlite:///new.db")

    assert told.exit_code == 0, told.output
    assert "wrote 2 rows in" in told.stdout and "rows/s" in told.stdout
    assert "verified: 2 rows are the same on both sides" in told.stdout
    assert "the source is closed" in told.stdout


def test_a_closed_source_says_so_and_can_be_reopened(two_jobs: Shop) -> None:
    two_jobs.read("move", "--from", two_jobs.url, "--to", "sqlite:///new.db")

    refused = two_jobs.run("enqueue", "add", "--payload", '{"a": 3}')
    assert refused.returncode == 3
    assert "moved to sqlite:///" in refused.stderr and "[database_closed]" in refused.stderr
    examined = two_jobs.run("doctor")
    assert examined.returncode == 1 and "moved to sqlite:///" in examined.stdout

    assert two_jobs.read("move", "--reopen", two_jobs.url) == {"open": True}
    assert two_jobs.run("enqueue", "add", "--payload", '{"a": 3}').returncode == 0
    again = two_jobs.run("move", "--reopen", two_jobs.url)
    assert again.returncode == 1 and "is not closed" in again.stderr


def test_a_move_is_refused_while_a_worker_lives_or_waits_for_its_end(two_jobs: Shop) -> None:
    ends = ["--from", two_jobs.url, "--to", "sqlite:///new.db"]
    worker = two_jobs.start("worker", "--app", "shop:app")
    until(lambda: any(one["state"] == "succeeded" for one in jobs(two_jobs)))
    until(lambda: two_jobs.items("workers"))

    refused = two_jobs.run("move", *ends)
    assert refused.returncode == 1 and "1 at work on the source" in refused.stderr

    waiting = two_jobs.start("move", *ends, "--wait", "60s", "--json")
    worker.terminate()
    told, _ = waiting.communicate(timeout=60)
    assert waiting.returncode == 0, told
    assert json.loads(told)["verified"]


def jobs(shop: Shop) -> list[dict[str, str]]:
    return [json.loads(line) for line in shop.call("jobs", "list", "--jsonl").stdout.splitlines()]


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["--from", "sqlite:///shop.db"], 2, "needs --from URL and --to URL"),
        (["--from", "sqlite:///none.db", "--to", "sqlite:///b.db"], 3, "no SQLite file at"),
        (["--from", "sqlite:///shop.db", "--to", "sqlite:///./shop.db"], 1, "the same database"),
        (["--from", "sqlite:///shop.db", "--to", "nosql://x/y"], 2, "not a database Tenure knows"),
        (
            ["--from", "sqlite:///shop.db", "--to", "sqlite:///b.db", "--wait", "soon"],
            2,
            "duration",
        ),
    ],
)
def test_what_cannot_be_done_is_one_line(
    shop: Shop, args: list[str], code: int, words: str
) -> None:
    done = shop.run("move", *args)

    assert (done.returncode, done.stderr.count("\n")) == (code, 1), done.stderr
    assert words in done.stderr
