"""`tenure enqueue`: durable when it returns, and nothing written where the input is wrong."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from tenure import State, Worker
from tests.cli.conftest import Shop
from tests.support.until import until


def test_a_job_is_stored_with_its_options(shop: Shop) -> None:
    result = shop.call(
        "enqueue", "add", "--payload", '{"a": 1}', "--key", "k", "--queue", "q", "--priority", "1",
        "--tenant", "acme", "--owner", "ada", "--run-at", "2040-01-01T00:00:00Z",
        "--max-attempts", "7", "--correlation-id", "c",
    )  # fmt: skip

    assert result.exit_code == 0
    job = shop.engine.get(json.loads(result.stdout)["jobId"])
    assert (job.kind, job.payload, job.key, job.queue, job.priority) == (
        "add", {"a": 1}, "k", "q", 1,
    )  # fmt: skip
    assert (job.tenant, job.owner, job.max_attempts, job.correlation_id) == ("acme", "ada", 7, "c")
    assert job.run_at == datetime(2040, 1, 1, tzinfo=UTC)


def test_a_key_in_use_answers_the_job_that_is_there(shop: Shop) -> None:
    first = json.loads(shop.call("enqueue", "add", "--key", "k").stdout)
    second = json.loads(shop.call("enqueue", "add", "--key", "k").stdout)

    assert first["created"] is True
    assert second == {"jobId": first["jobId"], "created": False}


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["add", "--payload", "{"], "bad_payload"),
        (["add", "--payload", '{"a": NaN}'], "bad_payload"),
        (["add", "--run-at", "tomorrow"], "bad_option"),
        (["add", "--run-at", "2040-01-01T00:00:00"], "bad_option"),
        (["add", "--delay", "-1"], "bad_option"),
        (["add", "--priority", "5000"], "bad_option"),
        (["add", "--key-mode", "replace"], "bad_option"),
        (["add", "--key", "k", "--key-mode", "swap"], "usage"),
        (["add", "--jsonl", "-"], "bad_option"),
        (["--jsonl", "nowhere.jsonl"], "bad_option"),
        ([], "bad_option"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(shop: Shop, arguments: list[str], code: str) -> None:
    result = shop.call("enqueue", *arguments)

    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
    assert result.stderr.endswith(f"[{code}]\n")
    assert result.stderr.count("\n") == 1
    assert list(shop.engine.insight.stream()) == []


def test_with_an_app_the_kind_and_the_payload_are_checked(shop: Shop) -> None:
    unknown = shop.run("enqueue", "subtract", "--app", "shop:app")
    wrong = shop.run("enqueue", "add", "--payload", '{"a": "x"}', "--app", "shop:app")

    assert (unknown.returncode, wrong.returncode) == (2, 2)
    assert "this app knows: add, boom, hang, refuse [unknown_kind]" in unknown.stderr
    assert "a: Input should be a valid integer" in wrong.stderr
    assert list(shop.engine.insight.stream()) == []


def test_with_an_app_the_handler_says_queue_and_attempts(shop: Shop) -> None:
    for kind in ("hang", "boom"):
        assert shop.run("enqueue", kind, "--app", "shop:app").returncode == 0

    boom, hang = shop.engine.insight.stream()
    assert (hang.queue, boom.max_attempts) == ("long", 2)


def test_a_job_that_no_live_worker_takes_is_remarked_upon(shop: Shop) -> None:
    assert "no worker is alive" in shop.call("enqueue", "hang").stderr
    engine = shop.engine
    engine.job("hang", queue="long")(lambda job: None)

    with Worker(engine, queues={"long": 1}):
        until(engine.insight.workers)
        told = [shop.call("enqueue", *given).stderr for given in HANGING]

    assert told == [
        "",
        "warning: no live worker takes 'hang' from queue 'default'; they serve: long\n",
        "warning: no live worker knows the kind 'hnag'; the job waits until one does\n",
    ]


HANGING = (["hang"], ["hang", "--queue", "default"], ["hnag"])


def test_lines_become_jobs_and_each_is_answered(shop: Shop) -> None:
    lines = [
        {"kind": "add", "payload": {"a": 1}, "key": "k"},
        {"kind": "add", "payload": {"a": 2}, "tenant": "acme", "runAt": "2040-01-01T00:00:00Z"},
        {"kind": "boom", "queue": "q", "priority": 0, "key": None},
        {"kind": "add", "payload": {"a": 1}, "key": "k"},
    ]
    result = shop.run("enqueue", "--jsonl", "-", input="\n\n".join(map(json.dumps, lines)))

    assert result.returncode == 0, result.stderr
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert [answer["created"] for answer in answers] == [True, True, True, False]
    assert answers[3]["jobId"] == answers[0]["jobId"]
    assert shop.engine.get(answers[1]["jobId"]).tenant == "acme"
    assert shop.engine.get(answers[2]["jobId"]).queue == "q"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "not JSON"),
        ("[]", "expected an object"),
        ("{}", '"kind" is missing'),
        ('{"kind": "add", "colour": 1}', "unknown field 'colour'; there are: after,"),
        ('{"kind": "add", "notify": "transaction"}', "unknown field 'notify'"),
        ('{"kind": "add", "tx": 1}', "unknown field 'tx'"),
        ('{"kind": "add", "runAt": "2040-01-01"}', "has no time zone"),
        ('{"kind": "add", "priority": "1"}', "whole number"),
        ('{"kind": "add", "payload": {"x": "\\ud800"}}', "lone surrogate"),
        ('{"kind": "add", "key": "taken", "payload": {"a": 2}}', "has another payload"),
    ],
)
def test_a_bad_line_is_named_and_nothing_of_its_chunk_is_written(
    shop: Shop, line: str, problem: str
) -> None:
    shop.call("enqueue", "add", "--key", "taken")
    good = '{"kind": "boom"}'

    result = shop.call("enqueue", "--jsonl", "-", input=f"{good}\n{line}\n{good}\n")

    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("error: line 2: ")
    assert problem in result.stderr
    assert [job.kind for job in shop.engine.insight.stream()] == ["add"]


def test_chunks_before_a_bad_line_are_kept_and_answered(shop: Shop) -> None:
    lines = ['{"kind": "add"}'] * 1_500 + ["oops"]
    (shop.folder / "in.jsonl").write_text("\n".join(lines))

    result = shop.call("enqueue", "--jsonl", "in.jsonl")

    assert result.exit_code == 2
    assert "line 1501" in result.stderr
    assert "1,000 earlier jobs were written" in result.stderr
    assert len(result.stdout.splitlines()) == 1_000
    assert shop.engine.insight.counts() == {State.QUEUED: 1_000}
