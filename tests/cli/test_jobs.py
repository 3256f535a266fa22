"""`tenure jobs list|show|history|tail`: for people and for programs."""

from __future__ import annotations

import json

import pytest

from tenure import State, Worker
from tenure.cli.kit import output
from tests.cli.conftest import Shop
from tests.support.lines import talkative


def add(shop: Shop, count: int = 1, **options: str) -> list[str]:
    flags = [part for name, value in options.items() for part in (f"--{name}", value)]
    results = [shop.call("enqueue", "add", "--payload", '{"a": 1}', *flags) for _ in range(count)]
    return [json.loads(result.stdout)["jobId"] for result in results]


def finish(shop: Shop) -> None:
    """Run what is due with handlers of this process."""
    engine = shop.engine

    @engine.job("add")
    def run(job: object, a: int) -> int:
        job.log("adding")  # type: ignore[attr-defined]
        return a + 1

    @engine.job("boom", retry=None)
    def boom(job: object) -> None:
        raise ValueError("no luck")

    Worker(engine).run_until_idle()


def test_lines_stream_all_that_match(shop: Shop) -> None:
    add(shop, 2)
    (wanted,) = add(shop, tenant="acme")

    result = shop.call("jobs", "list", "--tenant", "acme", "--jsonl")

    (row,) = map(json.loads, result.stdout.splitlines())
    assert row["jobId"] == wanted
    assert {"jobId", "kind", "state", "attempt", "tenant", "fence"} <= set(row)
    assert len(shop.call("jobs", "list", "--jsonl").stdout.splitlines()) == 3
    assert len(shop.call("jobs", "list", "--jsonl", "--limit", "2").stdout.splitlines()) == 2


def test_more_than_a_page_is_streamed(shop: Shop) -> None:
    shop.call("enqueue", "--jsonl", "-", input='{"kind": "add"}\n' * 1_203)

    rows = [json.loads(line) for line in shop.call("jobs", "list", "--jsonl").stdout.splitlines()]

    assert len({row["jobId"] for row in rows}) == 1_203


def test_a_page_leads_to_the_next(shop: Shop) -> None:
    ids = add(shop, 3)

    first = shop.read("jobs", "list", "--limit", "2")
    second = shop.read("jobs", "list", "--limit", "2", "--cursor", first["next"])

    assert [job["jobId"] for job in first["items"] + second["items"]] == ids[::-1]
    assert second["next"] is None


@pytest.mark.parametrize(
    ("options", "count"),
    [
        (["--state", "queued"], 2),
        (["--state", "dead", "--state", "failed"], 0),
        (["--kind", "add", "--queue", "default"], 2),
        (["--key", "k"], 1),
        (["--created-after", "1h"], 2),
        (["--created-before", "1h"], 0),
        (["--created-before", "2020-01-01T00:00:00Z"], 0),
        (["--owner", "ada"], 0),
        (["--correlation-id", "x"], 0),
    ],
)
def test_filters_narrow_the_list(shop: Shop, options: list[str], count: int) -> None:
    add(shop)
    add(shop, key="k")

    assert len(shop.read("jobs", "list", *options)["items"]) == count


def test_a_table_in_a_pipe_is_aligned_text(shop: Shop) -> None:
    add(shop, tenant="acme")

    head, row = shop.call("jobs", "list").stdout.splitlines()

    assert head.split() == ["id", "kind", "state", "run", "queue", "tenant", "created", "note"]
    assert row.split()[:6] == ["1", "add", "queued", "0/5", "default", "acme"]


@pytest.mark.parametrize("width", [80, 100])
def test_no_width_hides_an_id(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.console import Console

    screen = Console(width=width, force_terminal=True, record=True, highlight=False)
    monkeypatch.setattr(output, "console", lambda: screen)
    long = ["9223372036854775807", "a.rather.long.kind.of.job" * 4, "succeeded", "x" * 60]

    output.show_table(("id", "kind", "state", "note"), [long])

    shown = screen.export_text()
    assert long[0] in shown
    assert "…" not in shown


def test_a_job_is_shown_with_payload_result_and_history(shop: Shop) -> None:
    (job_id,) = add(shop)
    finish(shop)

    job = shop.read("jobs", "show", job_id)

    assert (job["state"], job["payload"], job["result"]) == ("succeeded", {"a": 1}, 2)
    assert [line["entry"] for line in shop.read("jobs", "history", job_id)["items"]] == [
        "succeeded"
    ]
    assert "succeeded" in shop.call("jobs", "show", job_id).stdout
    assert "succeeded" in shop.call("jobs", "history", job_id).stdout


def test_the_last_error_is_shown(shop: Shop) -> None:
    shop.call("enqueue", "boom", "--max-attempts", "1")
    finish(shop)

    assert shop.read("jobs", "show", "1")["lastError"]["message"] == "no luck"
    assert "ValueError: no luck" in shop.call("jobs", "show", "1").stdout


@pytest.mark.parametrize("command", ["show", "history", "tail"])
def test_a_missing_job_is_exit_code_4(shop: Shop, command: str) -> None:
    result = shop.call("jobs", command, "77")

    assert result.exit_code == 4
    assert result.stderr == "error: there is no job 77 [job_not_found]\n"


def test_tail_tells_lines_progress_and_the_end(shop: Shop) -> None:
    (job_id,) = add(shop)
    finish(shop)

    result = shop.call("jobs", "tail", job_id)

    assert result.exit_code == 0
    assert "adding" in result.stdout
    assert "-- job 1 (add) is succeeded, run 1 of 5" in result.stdout


def test_log_lines_are_printed_all_or_page_by_page(shop: Shop) -> None:
    job_id = talkative(shop.engine, 1_201)

    everything = shop.call("jobs", "logs", job_id)
    followed = shop.call("jobs", "tail", job_id, "--no-follow")
    some = shop.call("jobs", "logs", job_id, "--limit", "1200")
    first = shop.read("jobs", "logs", job_id)
    rest = shop.call("jobs", "logs", job_id, "--cursor", first["next"], "--jsonl")

    for said in (everything, followed):
        found = [line for line in said.stdout.splitlines() if "  line " in line]
        assert [line.rpartition(" ")[2] for line in found] == [str(n) for n in range(1_201)]
    assert everything.stderr == "" and some.stderr.startswith("more lines: --cursor ")
    assert some.stdout.count("\n") == 1_200
    messages = [one["message"] for one in first["items"]]
    messages += [json.loads(line)["message"] for line in rest.stdout.splitlines()]
    assert messages == [f"line {number}" for number in range(1_201)]
    assert shop.call("jobs", "logs", job_id, "--cursor", "x").exit_code == 2
    assert shop.call("jobs", "logs", "99").exit_code == 4


def test_tail_follows_until_the_time_is_over(shop: Shop) -> None:
    (job_id,) = add(shop)

    assert shop.call("jobs", "tail", job_id, "--no-follow").exit_code == 0
    assert shop.call("jobs", "tail", job_id, "--timeout", "0.05").exit_code == 1


def test_a_state_that_does_not_exist_is_bad_usage(shop: Shop) -> None:
    result = shop.call("jobs", "list", "--state", "lost")

    assert result.exit_code == 2
    assert "'queued', 'running'" in result.stderr
    assert all(state in result.stderr for state in State)


@pytest.mark.parametrize(
    "words",
    [
        "audit", "doctor", "workers", "jobs list", "jobs show 1", "jobs tail 1", "jobs why 1",
        "jobs history 1", "jobs logs 1", "jobs retry 1 --yes", "jobs cancel --kind add --yes",
        "jobs replay --kind add --yes", "jobs purge --older-than 1d --yes",
        "queues list", "queues pause default", "tenants list", "tenants cap acme 1",
        "limits list", "limits list --app shop:app", "limits set add --running 1",
        "limits hold add --until 5m --reason x", "limits release add",
        "schedules list", "schedules edit nightly --reset --app shop:app", "schedules run nightly",
        "keys list", "keys create ci", "keys link ada", "keys revoke 1", "keys end-sessions",
        "outbox list", "outbox subscribers", "move --from sqlite:///shop.db --to sqlite:///new.db",
    ],
)  # fmt: skip
def test_a_command_that_only_looks_or_operates_makes_no_database(
    empty_shop: Shop, words: str
) -> None:
    before = set(empty_shop.folder.iterdir())

    result = empty_shop.call(*words.split())

    assert result.exit_code == 3
    assert "no SQLite file at" in result.stderr
    assert "[no_database_file]" in result.stderr
    made = {path.name for path in set(empty_shop.folder.iterdir()) - before}
    assert made <= {"__pycache__"}


def test_a_job_that_waits_for_others_says_for_which(shop: Shop) -> None:
    first, second = add(shop, 2)
    line = json.dumps({"kind": "add", "payload": {"a": 1}, "after": [first, second]})
    last = json.loads(shop.call("enqueue", "--jsonl", "-", input=line).stdout)["jobId"]

    assert f"waits for     {first}, {second}\n" in shop.call("jobs", "show", last).stdout
    assert shop.read("jobs", "show", last)["waitsFor"] == [first, second]
    assert shop.read("jobs", "show", first)["waitsFor"] == []
