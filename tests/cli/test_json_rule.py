"""One rule of words: `--json` prints what the HTTP API answers."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tenure.api.kit.shapes.jobs import AttemptShape, JobShape, WholeJobShape
from tenure.cli.kit.camel_case import camel
from tenure.core.rules.limits import Limit
from tenure.operations.limits import KindLimit
from tests.cli.conftest import Shop


def names(shape: Any) -> set[str]:
    return {field.alias or name for name, field in shape.model_fields.items()}


def test_jobs_have_the_names_of_the_api(shop: Shop) -> None:
    options = ("--owner", "ada", "--tenant", "acme", "--run-at", "2040-01-01T00:00:00Z")
    job_id = shop.read("enqueue", "add", "--payload", '{"a": 1}', *options)["jobId"]
    shop.call("jobs", "cancel", job_id, "--yes")

    [listed] = shop.items("jobs", "list")
    shown, [line] = shop.read("jobs", "show", job_id), shop.items("jobs", "history", job_id)

    assert set(listed) == names(JobShape)
    assert set(shown) == names(WholeJobShape)
    assert set(line) == names(AttemptShape)
    assert (shown["jobId"], shown["userId"], shown["payload"]) == (job_id, "ada", {"a": 1})
    assert shown["runAt"] == "2040-01-01T00:00:00.000000Z"
    assert shown["why"]["code"]


def test_a_line_to_enqueue_has_the_fields_of_a_request(shop: Shop) -> None:
    line = {
        "kind": "add", "payload": {"some_name": 1}, "userId": "ada", "tenant": "acme",
        "delaySeconds": 60, "maxAttempts": 3, "correlationId": "c", "key": "k",
        "keyWindowSeconds": 60, "expiresAt": "2040-01-01T00:00:00Z",
    }  # fmt: skip
    result = shop.call("enqueue", "--jsonl", "-", input=json.dumps(line))

    assert result.exit_code == 0, result.stderr
    job = shop.engine.get(json.loads(result.stdout)["jobId"])
    assert (job.owner, job.tenant, job.max_attempts) == ("ada", "acme", 3)
    assert (job.correlation_id, job.payload) == ("c", {"some_name": 1})
    assert job.expires_at is not None and job.expires_at.year == 2040


@pytest.mark.parametrize("field", ["owner", "max_attempts", "delay", "run_at"])
def test_a_line_with_the_words_of_python_is_refused(shop: Shop, field: str) -> None:
    result = shop.call("enqueue", "--jsonl", "-", input=json.dumps({"kind": "add", field: "x"}))

    assert result.exit_code == 2
    assert f"unknown field '{field}'" in result.stderr


def test_what_the_api_has_no_shape_for_follows_the_same_rule() -> None:
    shown = camel(KindLimit("pdf", Limit(running=3), each_key=True, by_operator=False))

    assert (shown["eachKey"], shown["byOperator"], shown["limit"]["running"]) == (True, False, 3)


def test_the_command_line_needs_no_web_framework(shop: Shop) -> None:
    shop.call("enqueue", "add")
    program = (
        "import sys; sys.modules['fastapi'] = sys.modules['starlette'] = None\n"
        "sys.argv = ['tenure', 'jobs', 'list', '--json']\n"
        "from tenure.cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=shop.folder, capture_output=True, text=True, timeout=60
    )

    assert len(json.loads(done.stdout)["items"]) == 1, done.stderr
