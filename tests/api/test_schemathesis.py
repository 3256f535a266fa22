"""Whatever a client sends, the running server answers as its document says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tenure import Tenure
from tenure.features.schedules import Schedules
from tenure.testing import run_until_idle
from tests.api.conftest import Serve, Served, add_report

CHECKS = (
    "not_a_server_error", "status_code_conformance", "content_type_conformance",
    "response_headers_conformance", "response_schema_conformance", "unsupported_method",
    "allow_header_conformance",
)  # fmt: skip
CASES = 5
SOON = {"type": "integer", "minimum": 0, "maximum": 50}


@pytest.fixture
def engine(engine: Tenure) -> Tenure:
    add_report(engine)
    Schedules.of(engine).synchronise()
    engine.enqueue_many([engine.new("report", {"days": n}) for n in (1, -1)])
    run_until_idle(engine)
    engine.enqueue_many([engine.new("report") for _ in range(100)])
    return engine


@pytest.mark.timeout(300)
def test_no_answer_is_undocumented(serve: Serve, tmp_path: Path) -> None:
    served = serve(events_seconds=0.05, stream_seconds=0.1)
    (tmp_path / "openapi.json").write_text(json.dumps(patient(served)))
    key = served.client.headers["authorization"]
    command = [
        sys.executable, "-m", "schemathesis.cli", "run", "openapi.json", "--url", served.url,
        "-H", f"Authorization: {key}", "--checks", ",".join(CHECKS), "--max-examples", str(CASES),
        "--phases", "examples,coverage,fuzzing", "--seed", "1", "--continue-on-failure",
        "--warnings", "off", "--request-timeout", "20",
    ]  # fmt: skip

    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=280)

    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr
    assert "Tested: " in done.stdout
    assert served.get("/v1/health/ready").status_code == 200


def patient(served: Served) -> dict[str, Any]:
    """The document, with one credential for all, and with waits that are short."""
    made: dict[str, Any] = served.get("/openapi.json").json()
    del made["components"]["securitySchemes"], made["paths"]["/logout"]
    for item in made["paths"].values():
        for operation in item.values():
            operation.pop("security", None)
    for one in made["paths"]["/api/jobs/{jobId}/wait"]["get"]["parameters"]:
        if one["name"] == "waitMs":
            one |= {"required": True, "schema": SOON}
    jobs = {"type": "string", "enum": ["1", "2", "3", "4", "5", "99", "x"]}
    for path, item in made["paths"].items():
        for operation in item.values():
            for one in operation.get("parameters", ()):
                if one["name"] == "jobId" and path.startswith("/api/jobs/"):
                    one["schema"] = {"anyOf": [jobs, {"type": "string"}]}
    return made
